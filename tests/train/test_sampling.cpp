#include "train/sampling.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace shoal;

namespace {

// The distribution by the definitions, the slow way: sort, cut, renormalise.
std::map<int32_t, double> brute_force(const std::vector<float>& logits, const Sampling& options) {
  std::vector<std::pair<double, int32_t>> sorted;
  for (size_t i = 0; i < logits.size(); ++i)
    sorted.push_back({-double(logits[i]) / options.temperature, int32_t(i)});
  std::sort(sorted.begin(), sorted.end());
  if (options.top_k > 0 && sorted.size() > size_t(options.top_k)) sorted.resize(size_t(options.top_k));
  double total = 0;
  for (auto& [minus_logit, id] : sorted) total += std::exp(-minus_logit);
  std::map<int32_t, double> kept;
  double reached = 0;
  for (auto& [minus_logit, id] : sorted) {
    if (reached >= options.top_p) break;
    const double p = std::exp(-minus_logit) / total;
    kept[id] = p;
    reached += p;
  }
  for (auto& [id, p] : kept) p /= reached;
  return kept;
}

std::vector<float> random_logits(size_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> logits(n);
  for (float& l : logits) l = normal(rng);
  return logits;
}

}  // namespace

TEST_CASE("sampling follows the brute-force distribution") {
  for (const Sampling options :
       {Sampling{1, 0, 1}, Sampling{0.7, 5, 1}, Sampling{1.3, 0, 0.8}, Sampling{1, 7, 0.6}, Sampling{1, 1, 1},
        Sampling{1, 0, 1e-9}, Sampling{1, 1000, 1}}) {
    const std::vector<float> logits = random_logits(23, 7);
    const auto expected = brute_force(logits, options);
    // A fine even grid of draws: the share of a token is its probability to within a draw.
    constexpr int draws = 20000;
    std::map<int32_t, int> counts;
    for (int i = 0; i < draws; ++i) ++counts[sample(logits, options, (i + 0.5) / draws)];
    REQUIRE(counts.size() <= expected.size());
    for (const auto& [id, p] : expected) CHECK(std::abs(counts[id] / double(draws) - p) <= 1.5 / draws);
  }
}

TEST_CASE("greedy takes the first maximum") {
  const std::vector<float> logits{0.5f, 2.0f, -1.0f, 2.0f};
  CHECK(sample(logits, {.temperature = 0}, 0.99) == 1);
  CHECK(sample(logits, {.temperature = 1, .top_k = 1}, 0.99) == 1);
}
