// The blend of GPT-NeoX and Megatron-LM: each sample comes from the source that is furthest behind its
// weight, of equals the first. Unlike blend.h it is no closed form, so the choices are kept: a byte a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal {

class GreedyBlend {
 public:
  // Up to 255 sources, weights of any scale.
  GreedyBlend(const std::vector<double>& weights, int64_t samples);

  struct Pick {
    int source;
    int64_t index;  // among the samples of that source
  };
  Pick at(int64_t sample) const;  // sample < samples
  int64_t count(int source) const {
    return counts_[counts_.size() - num_sources_ + size_t(source)];
  }  // in all

 private:
  static constexpr int64_t kBlock = 4096;
  size_t num_sources_;
  std::vector<uint8_t> sources_;
  std::vector<int64_t> counts_;  // by block and source, of the samples before it; then of all
};

}  // namespace shoal
