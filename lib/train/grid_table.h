// What a run on several ranks says at its start.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "grid/grid.h"
#include "spec/run_spec.h"

namespace shoal {

struct GridFacts {
  Grid grid;
  std::vector<std::string> hosts;            // by rank
  std::vector<int64_t> memory;               // by rank, bytes in use before the first step
  std::array<double, num_axes> bandwidth{};  // bytes a second, of the axis' slowest group; 0: no group
  int64_t bandwidth_bytes = 0;               // of the all-reduce that it was measured with
};

// The grid, each rank's coordinates and host (of many ranks the first and the last), what a rank computes of
// a step, its memory, and the speed along the axes.
std::vector<std::string> grid_lines(const GridFacts& facts, const RunSpec& spec);

}  // namespace shoal
