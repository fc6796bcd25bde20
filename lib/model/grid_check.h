// Which grids a model and its batches can be cut over, and what to tell a user whose grid is none of them.
// What need not divide: hidden, intermediate and vocabulary sizes, and the weights' parts over z.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "grid/grid.h"
#include "model/config.h"

namespace shoal {

// What a pass of one replica works on. The checks leave out what is 0.
struct BatchShape {
  int64_t micro = 0;       // sequences in a pass of a replica (the ranks of one z and data coordinate)
  int64_t seq_length = 0;  // positions
  int64_t global = 0;      // sequences in a step of all replicas
};

// The first rule that the grid breaks, with the nearest grids of as many ranks that keep them all as a hint.
std::optional<Problem> grid_problem(const ModelConfig& model, const Grid& grid, const BatchShape& batch);
inline std::optional<Problem> grid_problem(const ModelConfig& model, const Grid& grid, int64_t micro_batch,
                                           int64_t seq_length) {
  return grid_problem(model, grid, BatchShape{micro_batch, seq_length});
}

// What is wrong when `ranks` processes were started for this grid: their number, or else grid_problem.
std::optional<Problem> world_problem(const ModelConfig& model, const Grid& grid, int ranks,
                                     const BatchShape& batch);

// The grids of `ranks` ranks that fit, nearest to the wanted one first: those whose sizes differ from its by
// the smallest factors, and of equals those that cut the batch before the layers.
std::vector<Grid> nearest_grids(const ModelConfig& model, const Grid& wanted, int ranks,
                                const BatchShape& batch, size_t most = 3);

// "x 2, y 1, z 4, data 1"
std::string to_string(const Grid& grid);

}  // namespace shoal
