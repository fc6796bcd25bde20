#include "train/grid_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"

namespace shoal {

namespace {

constexpr int all_listed = 32;  // of more ranks the first and the last few are listed
constexpr int ends_listed = 8;
constexpr std::array<const char*, num_axes> names = {"x", "y", "z", "data"};

}  // namespace

std::vector<std::string> grid_lines(const GridFacts& facts, const RunSpec& spec) {
  const Grid& grid = facts.grid;
  const int ranks = grid.ranks();
  const auto hosts = std::set<std::string>(facts.hosts.begin(), facts.hosts.end()).size();
  std::vector<std::string> lines = {
      fmt::format("grid         x {} * y {} * z {} * data {} = {} ranks on {} host{}", grid[Axis::x],
                  grid[Axis::y], grid[Axis::z], grid[Axis::data], ranks, hosts, hosts == 1 ? "" : "s")};
  for (int r = 0; r < ranks; ++r) {
    if (ranks > all_listed && r == ends_listed) {
      r = ranks - ends_listed;
      lines.push_back("             ...");
    }
    const Coordinates c = coordinates_of(grid, r);
    lines.push_back(fmt::format("             rank {:<4} x {:<3} y {:<3} z {:<3} data {:<4} {}", r,
                                c[Axis::x], c[Axis::y], c[Axis::z], c[Axis::data], facts.hosts[size_t(r)]));
  }
  const int64_t replicas = int64_t(grid[Axis::z]) * grid[Axis::data];
  const int64_t passes = spec.batch.global / std::max<int64_t>(spec.batch.micro * replicas, 1);
  lines.push_back(fmt::format(
      "a rank       {} of {} sequences a step, in {} pass{} of {}, shared with {} rank{} along x and y",
      spec.batch.global / replicas, spec.batch.global, passes, passes == 1 ? "" : "es", spec.batch.micro,
      grid[Axis::x] * grid[Axis::y], grid[Axis::x] * grid[Axis::y] == 1 ? "" : "s"));
  const auto [low, high] = std::minmax_element(facts.memory.begin(), facts.memory.end());
  lines.push_back(fmt::format("memory       {} to {} a rank before the first step",
                              format_bytes(double(*low)), format_bytes(double(*high))));
  std::string speeds;
  for (size_t axis = 0; axis < num_axes; ++axis) {
    if (facts.bandwidth[axis] <= 0) continue;
    speeds += fmt::format("{}{} {}/s", speeds.empty() ? "" : ", ", names[axis],
                          format_bytes(facts.bandwidth[axis]));
  }
  if (!speeds.empty()) {
    lines.push_back(
        fmt::format("bandwidth    {} sent a rank, all-reduce of {}, the slowest group of each axis", speeds,
                    format_bytes(double(facts.bandwidth_bytes))));
  }
  return lines;
}

}  // namespace shoal
