#include "data/blend.h"

#include <cmath>
#include <queue>
#include <tuple>

#include "base/check.h"

namespace shoal {

Blend::Blend(const std::vector<double>& weights) : num_sources_(int(weights.size())) {
  SHOAL_CHECK(!weights.empty());
  using Entry = std::tuple<double, int>;  // weight, node: equal weights are taken in order
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  nodes_.resize(weights.size());
  parent_.resize(weights.size(), -1);
  for (int i = 0; i < num_sources_; ++i) {
    SHOAL_CHECK(weights[size_t(i)] > 0 && std::isfinite(weights[size_t(i)]));
    open.emplace(weights[size_t(i)], i);
  }
  while (open.size() > 1) {
    const auto [left_weight, left] = open.top();
    open.pop();
    const auto [right_weight, right] = open.top();
    open.pop();
    const int node = int(nodes_.size());
    const double share = left_weight / (left_weight + right_weight);  // the lighter child: at most 1/2
    nodes_.push_back({uint64_t(std::ldexp(share, 64)), left, right});
    parent_.push_back(-1);
    parent_[size_t(left)] = parent_[size_t(right)] = node;
    open.emplace(left_weight + right_weight, node);
  }
}

int64_t Blend::left_count(const Node& node, int64_t samples) const {
  __extension__ using Wide = unsigned __int128;
  const Wide half = Wide(1) << 63;
  return int64_t((Wide(node.left_share) * Wide(uint64_t(samples)) + half) >> 64);
}

Blend::Pick Blend::at(int64_t sample) const {
  int at = int(nodes_.size()) - 1;
  while (nodes_[size_t(at)].left >= 0) {
    const Node& node = nodes_[size_t(at)];
    const int64_t before = left_count(node, sample);
    const bool goes_left = left_count(node, sample + 1) > before;
    sample = goes_left ? before : sample - before;
    at = goes_left ? node.left : node.right;
  }
  return {at, sample};
}

int64_t Blend::count(int source, int64_t samples) const {
  std::vector<int> path;
  for (int node = source; node >= 0; node = parent_[size_t(node)]) path.push_back(node);
  for (size_t i = path.size() - 1; i > 0; --i) {
    const Node& node = nodes_[size_t(path[i])];
    const int64_t left = left_count(node, samples);
    samples = path[i - 1] == node.left ? left : samples - left;
  }
  return samples;
}

}  // namespace shoal
