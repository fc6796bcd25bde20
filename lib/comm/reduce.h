// Sums of several ranks' contributions in rank order, so that every rank and every run gets the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"

namespace shoal {

// out[i] = op over r of parts[r][i], in the order r = 0, 1, ...; bf16 is accumulated in f32 and rounded once.
// All parts and out have `count` elements of `dtype` (f32, bf16, f64, i32, i64); out may be one of the parts.
void reduce_parts(const std::vector<const void*>& parts, void* out, int64_t count, DType dtype, Reduce op);

}  // namespace shoal
