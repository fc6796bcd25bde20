#include "model/grid_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"

namespace shoal {
namespace {

std::string divisors_of(int64_t n) {
  std::vector<std::string> all;
  for (int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) all.push_back(fmt::format("{}", d));
  }
  constexpr size_t shown = 12;
  if (all.size() > shown) {
    all.resize(shown);
    return join_choices(all, ", ") + ", ...";
  }
  return join_choices(all);
}

// A count of things that the ranks along an axis share evenly.
std::optional<Problem> must_divide(const char* axis, int64_t ranks, int64_t count,
                                   const std::string& things) {
  if (count % ranks == 0) return {};
  return Problem{.what = fmt::format("{} cannot be shared evenly", things),
                 .where = fmt::format("parallel.{}", axis),
                 .value = fmt::format("{} / {} ranks over {}", count, ranks, axis),
                 .allowed = fmt::format("a divisor of {}: {}", count, divisors_of(count))};
}

// Uneven parts are fine, empty ones are not.
std::optional<Problem> must_reach(const char* axis, int64_t ranks, int64_t count, const char* key) {
  if (count >= ranks) return {};
  return Problem{.what = fmt::format("there is not one of {} for each rank", key),
                 .where = fmt::format("parallel.{}", axis),
                 .value = fmt::format("{} over {} ranks of {}", count, ranks, axis),
                 .allowed = fmt::format("at most {}", count)};
}

std::optional<Problem> rows_problem(const Grid& grid, const BatchShape& batch) {
  if (batch.micro == 0 || batch.seq_length == 0) return {};
  const int64_t rows = batch.micro * batch.seq_length;
  const std::string things = fmt::format("the {} tokens of a pass (batch.micro {} * data.seq_length {})",
                                         rows, batch.micro, batch.seq_length);
  if (auto problem = must_divide("x", grid[Axis::x], rows, things)) return problem;
  return must_divide("y", grid[Axis::y], rows, things);
}

// Attention takes whole sequences: those of a pass go to the ranks of y, or else the heads do.
std::optional<Problem> heads_problem(const ModelConfig& model, const Grid& grid, const BatchShape& batch) {
  const int64_t x = grid[Axis::x], y = grid[Axis::y], groups = model.num_kv_heads;
  if (auto problem = must_divide("x", x, groups, fmt::format("the {} key-value heads", groups)))
    return problem;
  if (batch.micro == 0 || batch.micro % y == 0 || groups % (x * y) == 0) return {};
  return Problem{
      .what = "neither the sequences of a pass nor the heads can be shared over y",
      .where = "parallel.y",
      .value = fmt::format("batch.micro {} / y {}, and {} key-value heads / (x {} * y {})", batch.micro, y,
                           groups, x, y),
      .allowed = fmt::format("a divisor of batch.micro: {}; or x * y a divisor of the key-value heads: {}",
                             divisors_of(batch.micro), divisors_of(groups))};
}

std::optional<Problem> step_problem(const Grid& grid, const BatchShape& batch) {
  const int64_t replicas = int64_t{grid[Axis::z]} * grid[Axis::data], pass = batch.micro * replicas;
  if (batch.global == 0 || batch.micro == 0 || batch.global % pass == 0) return {};
  return Problem{.what = "a step is not a whole number of passes",
                 .where = "parallel.z, parallel.data",
                 .value = fmt::format("batch.global {} / (batch.micro {} * z {} * data {})", batch.global,
                                      batch.micro, grid[Axis::z], grid[Axis::data]),
                 .allowed = fmt::format("z * data a divisor of batch.global / batch.micro = {}",
                                        batch.global % batch.micro == 0
                                            ? fmt::format("{}: {}", batch.global / batch.micro,
                                                          divisors_of(batch.global / batch.micro))
                                            : fmt::format("{} / {}", batch.global, batch.micro))};
}

std::optional<Problem> first_problem(const ModelConfig& model, const Grid& grid, const BatchShape& batch) {
  if (auto problem = heads_problem(model, grid, batch)) return problem;
  if (auto problem = rows_problem(grid, batch)) return problem;
  if (auto problem = step_problem(grid, batch)) return problem;
  const int64_t x = grid[Axis::x], y = grid[Axis::y];
  if (auto problem = must_reach("x", x, model.vocab_size, "model.vocab_size")) return problem;
  if (auto problem = must_reach("x", x, model.intermediate_size, "model.intermediate_size")) return problem;
  return must_reach("y", y, model.hidden_size, "model.hidden_size");
}

std::vector<Grid> factorisations(int ranks) {
  std::vector<Grid> grids;
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; x * y <= ranks; ++y) {
      if (ranks % (x * y) != 0) continue;
      for (int z = 1; x * y * z <= ranks; ++z) {
        if (ranks % (x * y * z) == 0) grids.push_back({{x, y, z, ranks / (x * y * z)}});
      }
    }
  }
  return grids;
}

double distance(const Grid& a, const Grid& b) {
  double sum = 0;
  for (size_t axis = 0; axis < num_axes; ++axis) {
    sum += std::abs(std::log2(static_cast<double>(a.size[axis]) / b.size[axis]));
  }
  return sum;
}

// The grids of so many ranks that fit, or else of the next smaller number that has any.
std::string nearest_hint(const ModelConfig& model, const Grid& wanted, int ranks, const BatchShape& batch) {
  for (int fewer = ranks; fewer > 0; --fewer) {
    const std::vector<Grid> grids = nearest_grids(model, wanted, fewer, batch);
    if (grids.empty()) continue;
    std::vector<std::string> names;
    for (const Grid& grid : grids) names.push_back(to_string(grid));
    return fmt::format("{}grids of {} rank{} that fit, nearest first: {}",
                       fewer < ranks ? fmt::format("no grid of {} ranks fits; ", ranks) : "", fewer,
                       fewer == 1 ? "" : "s", fmt::join(names, "; "));
  }
  return "";
}

}  // namespace

std::optional<Problem> grid_problem(const ModelConfig& model, const Grid& grid, const BatchShape& batch) {
  std::optional<Problem> problem = first_problem(model, grid, batch);
  if (problem) problem->hint = nearest_hint(model, grid, grid.ranks(), batch);
  return problem;
}

std::optional<Problem> world_problem(const ModelConfig& model, const Grid& grid, int ranks,
                                     const BatchShape& batch) {
  if (ranks == grid.ranks()) return grid_problem(model, grid, batch);
  Problem problem{.what = fmt::format("the grid is of {} rank{}, but {} {} started", grid.ranks(),
                                      grid.ranks() == 1 ? "" : "s", ranks, ranks == 1 ? "was" : "were"),
                  .where = "parallel",
                  .value = fmt::format("x {} * y {} * z {} * data {} = {}", grid[Axis::x], grid[Axis::y],
                                       grid[Axis::z], grid[Axis::data], grid.ranks()),
                  .allowed = fmt::format("sizes whose product is {}", ranks)};
  problem.hint = nearest_hint(model, grid, ranks, batch);
  const std::string start = fmt::format("mpiexec -n {} or srun --mpi=pmi2 -n {}", grid.ranks(), grid.ranks());
  // What a launcher that MPI does not know looks like from inside.
  if (ranks == 1) problem.hint = fmt::format("start all of them with {}; {}", start, problem.hint);
  return problem;
}

std::vector<Grid> nearest_grids(const ModelConfig& model, const Grid& wanted, int ranks,
                                const BatchShape& batch, size_t most) {
  std::vector<Grid> fitting;
  for (const Grid& grid : factorisations(ranks)) {
    if (!first_problem(model, grid, batch)) fitting.push_back(grid);
  }
  const auto key = [&](const Grid& g) {
    const double rounded = std::round(distance(g, wanted) * 1e6);  // equal distances in any order of sums
    return std::tuple(rounded, g[Axis::x] * g[Axis::y], g[Axis::y], g[Axis::data]);
  };
  std::sort(fitting.begin(), fitting.end(), [&](const Grid& a, const Grid& b) { return key(a) < key(b); });
  if (fitting.size() > most) fitting.resize(most);
  return fitting;
}

std::string to_string(const Grid& grid) {
  return fmt::format("x {}, y {}, z {}, data {}", grid[Axis::x], grid[Axis::y], grid[Axis::z],
                     grid[Axis::data]);
}

}  // namespace shoal
