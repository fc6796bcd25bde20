#include "data/published_source.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/error.h"

namespace shoal {

namespace {

std::vector<int32_t> sizes_of(const TokenRows& rows) {
  std::vector<int32_t> sizes;
  for (int64_t d = rows.first_document(); d < rows.end_document(); ++d) {
    sizes.push_back(int32_t(rows.file().document_size(d)));
  }
  return sizes;
}

// How many samples the two programs ask of a source with this share of the weight.
int64_t samples_asked(PublishedOrder order, int64_t needed, double share, bool is_alone) {
  if (order == PublishedOrder::gpt_neox) return int64_t(std::ceil(double(needed) * share * 1.005));
  return is_alone ? needed : int64_t(std::ceil(std::ceil(double(needed) * share) * 1.005));
}

}  // namespace

PublishedSource::PublishedSource(PublishedOrder order, std::vector<TokenRows> sources,
                                 const std::vector<double>& weights, int64_t needed_samples, uint64_t seed)
    : order_(order), sources_(std::move(sources)) {
  if (seed > UINT32_MAX) {
    throw UserError(Problem{"is too large for this data.order", "data.seed", fmt::format("{}", seed),
                            "0 to 4294967295, the seeds of NumPy's generator", ""});
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool is_alone = sources_.size() == 1;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const int64_t asked = samples_asked(order, needed_samples, weights[i] / sum, is_alone);
    maps_.emplace_back(order, sizes_of(sources_[i]), seq_length(), asked, 0, uint32_t(seed));
    size_ += maps_.back().size();
  }
  if (!is_alone) {
    blend_ = std::make_unique<GreedyBlend>(weights, needed_samples);
    size_ = needed_samples;
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    const int64_t wanted = is_alone ? needed_samples : blend_->count(int(i));
    if (wanted > maps_[i].size()) {
      throw UserError(Problem{fmt::format("the run takes {} samples from it, and data.order prepares {}",
                                          wanted, maps_[i].size()),
                              sources_[i].file().prefix(), "", "",
                              "raise the weight of this source, leave it out, or use data.order: native"});
    }
  }
}

void PublishedSource::read(int64_t index, int32_t* row) const {
  SHOAL_CHECK(index >= 0 && index < size_);
  size_t source = 0;
  if (blend_) {
    const auto pick = blend_->at(index);
    source = size_t(pick.source);
    index = pick.index;
  }
  const TokenRows& rows = sources_[source];
  const IndexMap& map = maps_[source];
  map.for_each_part(
      map.begin_of(index), seq_length() + 1, [&](int64_t document, int64_t first, int64_t count) {
        rows.read_tokens(rows.file().document_begin(rows.first_document() + document) + first, count, row);
        row += count;
      });
}

std::string PublishedSource::describe() const {
  std::string text = fmt::format("{} samples of {} tokens, in the order of {}", size_, seq_length(),
                                 order_ == PublishedOrder::gpt_neox ? "GPT-NeoX" : "Megatron-LM");
  for (size_t i = 0; i < sources_.size(); ++i) {
    text += fmt::format("\n  {}: {} tokens, {} epochs shuffled together{}, {} samples",
                        sources_[i].file().prefix(), sources_[i].num_tokens(), maps_[i].epochs(),
                        maps_[i].separate_last_epoch() ? " but for the last" : "", maps_[i].size());
  }
  return text;
}

}  // namespace shoal
