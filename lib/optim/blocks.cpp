#include "optim/blocks.h"

#include <algorithm>

namespace shoal {
namespace {

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

MatrixBlocks::MatrixBlocks(int64_t r, int64_t c, int64_t cap) : rows(r), columns(c) {
  SHOAL_CHECK(r > 0 && c > 0 && cap > 0);
  row_size = ceil_div(rows, ceil_div(rows, cap));
  column_size = ceil_div(columns, ceil_div(columns, cap));
  row_parts = ceil_div(rows, row_size);
  column_parts = ceil_div(columns, column_size);
}

View MatrixBlocks::of(const View& matrix, int64_t block) const {
  const int64_t row = block / column_parts * row_size, column = block % column_parts * column_size;
  return matrix.slice(0, row, std::min(row_size, rows - row))
      .slice(1, column, std::min(column_size, columns - column));
}

}  // namespace shoal
