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
  struct Options {
    PublishedOrder order = PublishedOrder::gpt_neox;
    int64_t needed_samples = 0;  // that the run takes
    int64_t order_samples = 0;   // that the order is made for; 0: needed_samples
    int64_t epochs = 0;          // GPT-NeoX: shuffled together; 0: as many as order_samples ask for
    uint64_t seed = 0;
  };
  // One map a source, with the 0.5 % of spare samples that both programs add when they blend; or the map of a
  // source's index files. Throws UserError if a source has too few samples all the same: those programs would
  // begin again, or fail, late in the run.
  PublishedSource(const Options& options, std::vector<TokenRows> sources,
                  const std::vector<DataSource>& described);

  int num_sources() const { return int(sources_.size()); }
  const TokenRows& source(int i) const { return sources_[size_t(i)]; }
  const IndexMap& map(int i) const { return maps_[size_t(i)]; }
  int64_t samples_asked(int i) const { return asked_[size_t(i)]; }  // of each source, with the spare ones

  int64_t size() const override { return size_; }
  int64_t seq_length() const override { return sources_[0].seq_length(); }
  void read(int64_t index, int32_t* row) const override;
  std::string describe() const override;

 private:
  int64_t wanted(size_t source) const;  // samples that the run takes from it

  Options options_;
  std::vector<TokenRows> sources_;
  std::vector<IndexMap> maps_;
  std::vector<int64_t> asked_;
  std::unique_ptr<GreedyBlend> blend_;  // null for one source
  int64_t size_ = 0;
};

}  // namespace shoal
