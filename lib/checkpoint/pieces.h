// A piece of a global tensor (a part of a flattened block of it) as runs of elements that follow one another
// in the piece as well as in the global tensor.
#pragma once

#include <algorithm>
#include <cstdint>

#include "checkpoint/checkpoint.h"
#include "grid/grid.h"

namespace shoal {

// Calls run(index in the global tensor, index in the piece, count) for each, in ascending order.
template <typename Run>
void for_each_run(const Shape& global, const Slab& slab, const Range& part, const Run& run) {
  // The trailing dims that are whole in the block, and one more, follow one another in both.
  int64_t length = 1;
  for (int d = global.rank(); d-- > 0;) {
    length *= slab.shape[d];
    if (slab.shape[d] != global[d]) break;
  }
  for (int64_t at = part.begin; at < part.end();) {
    const int64_t count = std::min(length - at % length, part.end() - at);
    int64_t left = at, index = 0, stride = 1;
    for (int d = global.rank(); d-- > 0;) {
      index += stride * (slab.offset[d] + left % slab.shape[d]);
      left /= slab.shape[d];
      stride *= global[d];
    }
    run(index, at - part.begin, count);
    at += count;
  }
}

// What of a piece this rank writes, its replicas writing the rest; as a piece of its own.
StateTensor share_of(const StateTensor& tensor);

}  // namespace shoal
