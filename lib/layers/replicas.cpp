#include "layers/replicas.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <map>

namespace shoal {

namespace {

constexpr size_t hashes_each = 2;  // the copy that is computed with, and the master where that is another one

int64_t hash_of(Device& device, const Tensor& tensor, std::vector<std::byte>& staging) {
  if (tensor.numel() == 0) return 0;
  const View view = tensor.view();
  staging.resize(static_cast<size_t>(view.bytes()));
  device.to_host(staging.data(), view.data, view.bytes());
  return static_cast<int64_t>(XXH3_64bits(staging.data(), staging.size()));
}

// What tells the parts of a parameter apart: the coordinates along the axes that cut it, -1 for the others.
std::array<int, num_axes> part_of(const Parameter& parameter, const Coordinates& c, bool master) {
  return {parameter.spec.shard.x_dim >= 0 ? c[Axis::x] : -1,
          parameter.spec.shard.y_dim >= 0 ? c[Axis::y] : -1, parameter.over_z ? c[Axis::z] : -1,
          master && parameter.over_data ? c[Axis::data] : -1};
}

std::string named(const std::vector<int>& ranks, const Grid& grid) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Coordinates c = coordinates_of(grid, ranks[i]);
    text += fmt::format("{}{} (x {} y {} z {} data {})", i == 0 ? "" : ", ", ranks[i], c[Axis::x], c[Axis::y],
                        c[Axis::z], c[Axis::data]);
  }
  return text;
}

// The copies of one part, as the ranks that hold the same bits; the largest set first.
std::string difference(std::vector<std::vector<int>> copies, const Grid& grid) {
  std::stable_sort(copies.begin(), copies.end(), [](auto& a, auto& b) { return a.size() > b.size(); });
  std::string text;
  if (copies[0].size() > copies[1].size()) {
    for (size_t i = 1; i < copies.size(); ++i) text += (i == 1 ? "" : "; ") + named(copies[i], grid);
    return fmt::format("{} not as on {} other{}", text, copies[0].size(), copies[0].size() == 1 ? "" : "s");
  }
  for (const auto& ranks : copies)
    text += (text.empty() ? "one copy on " : ", another on ") + named(ranks, grid);
  return text;
}

}  // namespace

std::vector<std::string> replica_differences(const ParameterRegistry& parameters, const Context& context,
                                             Communicator& world) {
  const auto& all = parameters.all();
  const auto count = static_cast<int64_t>(all.size() * hashes_each);
  std::vector<int64_t> mine, everyone(static_cast<size_t>(count * world.size()));
  std::vector<std::byte> staging;
  for (const Parameter& p : all) {
    mine.push_back(hash_of(context.device, p.compute, staging));
    mine.push_back(p.spec.matrix && context.compute != DType::f32 ? hash_of(context.device, p.master, staging)
                                                                  : 0);
  }
  world
      .all_gather(View(mine.data(), DType::i64, {count}),
                  View(everyone.data(), DType::i64, {count * world.size()}), "replicas")
      .wait();

  std::vector<std::string> lines;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const bool master = i % hashes_each == 1;
    const Parameter& parameter = all[i / hashes_each];
    std::map<std::array<int, num_axes>, std::map<int64_t, std::vector<int>>> parts;
    for (int rank = 0; rank < world.size(); ++rank) {
      const auto hash = everyone[static_cast<size_t>(rank) * static_cast<size_t>(count) + i];
      parts[part_of(parameter, coordinates_of(context.grid, rank), master)][hash].push_back(rank);
    }
    for (const auto& [part, by_hash] : parts) {
      if (by_hash.size() < 2) continue;
      std::vector<std::vector<int>> copies;
      for (const auto& [hash, ranks] : by_hash) copies.push_back(ranks);
      lines.push_back(fmt::format("{}{}: {}", parameter.spec.name, master ? " (f32)" : "",
                                  difference(copies, context.grid)));
    }
  }
  return lines;
}

}  // namespace shoal
