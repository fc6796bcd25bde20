// A matrix cut into nearly equal blocks no larger than a cap, for optimizers that keep a square matrix a
// side.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/view.h"

namespace shoal {

struct MatrixBlocks {
  // Cuts rows and columns into the fewest parts of at most `cap`, all of one size but the last, which may be
  // smaller.
  MatrixBlocks(int64_t rows, int64_t columns, int64_t cap);

  int64_t count() const { return row_parts * column_parts; }
  View of(const View& matrix, int64_t block) const;  // in row-major order of blocks

  int64_t rows, columns;
  int64_t row_parts, column_parts;
  int64_t row_size, column_size;  // of all parts but the last
};

}  // namespace shoal
