// Which rows of a global batch a rank works on.
#pragma once

#include <cstdint>
#include <vector>

#include "grid/grid.h"

namespace shoal {

// Ranks that differ in data or z have different samples, those that differ in x or y the same ones. A step
// consists of passes of micro * replicas consecutive samples, of which each replica takes a contiguous slice:
// the rule of GPT-NeoX and Megatron-LM, so that a batch holds the same samples on any grid.
inline int num_replicas(const Grid& grid) {
  return grid[Axis::z] * grid[Axis::data];
}
inline int replica_of(const Grid& grid, const Coordinates& at) {
  return at[Axis::data] * grid[Axis::z] + at[Axis::z];
}

// Global sample numbers of a replica in a step (from 0), pass by pass; micro * replicas divides global.
std::vector<int64_t> samples_of(int64_t step, int64_t global, int64_t micro, int replicas, int replica);

}  // namespace shoal
