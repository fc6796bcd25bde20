// Normal draws for initial weights, fast, and the same bits on every machine and grid.
#pragma once

#include <cstdint>

#include "base/philox.h"

namespace shoal {

// out[i] = std * z(first + i) for i < count, where z(n) is the n-th draw of a standard normal stream: four
// draws a Philox block by Box-Muller. With truncate > 0 a draw beyond it is replaced by the first later try
// within. Parallel.
void fill_normal(const Philox& stream, int64_t first, int64_t count, double std, double truncate, float* out);

}  // namespace shoal
