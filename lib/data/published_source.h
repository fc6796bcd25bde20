// Training samples in the order of GPT-NeoX or Megatron-LM (index_map.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/greedy_blend.h"
#include "data/index_map.h"
#include "data/token_rows.h"

namespace shoal {

class PublishedSource : public SampleSource {
 public:
  // One map a source, with the 0.5 % of spare samples that both programs add when they blend. Throws
  // UserError if a source has too few samples all the same: those programs would begin again, or fail, late
  // in the run.
  PublishedSource(PublishedOrder order, std::vector<TokenRows> sources, const std::vector<double>& weights,
                  int64_t needed_samples, uint64_t seed);

  int64_t size() const override { return size_; }
  int64_t seq_length() const override { return sources_[0].seq_length(); }
  void read(int64_t index, int32_t* row) const override;
  std::string describe() const override;

 private:
  PublishedOrder order_;
  std::vector<TokenRows> sources_;
  std::vector<IndexMap> maps_;
  std::unique_ptr<GreedyBlend> blend_;  // null for one source
  int64_t size_ = 0;
};

}  // namespace shoal
