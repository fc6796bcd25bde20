// What a group of ranks can move, measured when a run starts: a wrong network or binding shows as a number.
#pragma once

#include <cstdint>

#include "comm/communicator.h"

namespace shoal {

// Bytes a second that each rank of the group sends in an f32 all-reduce of `bytes`, in the ring form:
// 2 (n-1)/n bytes / time, the best of `repeats` after one to warm up. Collective; all ranks of the group get
// the same number, that of the slowest rank. 0 for a group of one.
double measure_bandwidth(Communicator& group, int64_t bytes, int repeats);

}  // namespace shoal
