#include "data/greedy_blend.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace shoal {

GreedyBlend::GreedyBlend(const std::vector<double>& weights, int64_t samples) : num_sources_(weights.size()) {
  SHOAL_CHECK(num_sources_ >= 1 && num_sources_ <= 255);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int64_t> counts(num_sources_);
  sources_.reserve(size_t(samples));
  for (int64_t sample = 0; sample < samples; ++sample) {
    if (sample % kBlock == 0) counts_.insert(counts_.end(), counts.begin(), counts.end());
    const double due = double(std::max<int64_t>(sample, 1));
    size_t best = 0;
    double most_behind = -1e300;
    for (size_t i = 0; i < num_sources_; ++i) {
      const double behind = weights[i] / sum * due - double(counts[i]);
      if (behind > most_behind) most_behind = behind, best = i;
    }
    sources_.push_back(uint8_t(best));
    ++counts[best];
  }
  counts_.insert(counts_.end(), counts.begin(), counts.end());
}

GreedyBlend::Pick GreedyBlend::at(int64_t sample) const {
  const int64_t block = sample / kBlock;
  const uint8_t source = sources_[size_t(sample)];
  const int64_t before = counts_[size_t(block) * num_sources_ + source];
  return {source, before + std::count(sources_.begin() + block * kBlock, sources_.begin() + sample, source)};
}

}  // namespace shoal
