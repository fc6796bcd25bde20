#include "data/published_source.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/error.h"
#include "data/index_files.h"

namespace shoal {

namespace {

std::vector<int32_t> sizes_of(const TokenRows& rows) {
  std::vector<int32_t> sizes;
  sizes.reserve(size_t(rows.end_document() - rows.first_document()));
  for (int64_t d = rows.first_document(); d < rows.end_document(); ++d) {
    sizes.push_back(int32_t(rows.file().document_size(d)));
  }
  return sizes;
}

// How many samples the two programs ask of a source with this share of the weight.
int64_t samples_asked_of(PublishedOrder order, int64_t needed, double share, bool is_alone) {
  if (order == PublishedOrder::gpt_neox) return int64_t(std::ceil(double(needed) * share * 1.005));
  return is_alone ? needed : int64_t(std::ceil(std::ceil(double(needed) * share) * 1.005));
}

}  // namespace

PublishedSource::PublishedSource(const Options& options, std::vector<TokenRows> sources,
                                 const std::vector<DataSource>& described)
    : options_(options), sources_(std::move(sources)) {
  SHOAL_CHECK(sources_.size() == described.size());
  if (options_.seed > UINT32_MAX) {
    throw UserError(Problem{"is too large for this data.order", "data.seed", fmt::format("{}", options_.seed),
                            "0 to 4294967295, the seeds of NumPy's generator", ""});
  }
  if (options_.order_samples == 0) options_.order_samples = options_.needed_samples;
  std::vector<double> weights;
  for (const DataSource& source : described) weights.push_back(source.weight);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool is_alone = sources_.size() == 1;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const TokenRows& rows = sources_[i];
    asked_.push_back(samples_asked_of(options_.order, options_.order_samples, weights[i] / sum, is_alone));
    if (described[i].index.empty()) {
      maps_.emplace_back(options_.order, sizes_of(rows), seq_length(), asked_[i], options_.epochs,
                         uint32_t(options_.seed));
    } else {
      maps_.push_back(read_index_files(described[i].index, options_.order, sizes_of(rows),
                                       rows.first_document(), seq_length()));
    }
    size_ += maps_.back().size();
  }
  if (!is_alone) {
    blend_ = std::make_unique<GreedyBlend>(weights, options_.needed_samples);
    size_ = options_.needed_samples;
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (wanted(i) <= maps_[i].size()) continue;
    const bool is_frozen = options_.epochs > 0 || options_.order_samples < options_.needed_samples;
    throw UserError(Problem{
        fmt::format("the run takes {} samples from it, and data.order prepares {}", wanted(i),
                    maps_[i].size()),
        sources_[i].file().prefix(), "", "",
        !described[i].index.empty() ? "the index files were made for a shorter run"
        : is_frozen ? "raise data.epochs or data.order_samples: that is another order from the first step on"
                    : "raise the weight of this source, leave it out, or use data.order: native"});
  }
}

int64_t PublishedSource::wanted(size_t source) const {
  return blend_ ? blend_->count(int(source)) : options_.needed_samples;
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
                                 options_.order == PublishedOrder::gpt_neox ? "GPT-NeoX" : "Megatron-LM");
  for (size_t i = 0; i < sources_.size(); ++i) {
    const char* epochs = maps_[i].epochs() == 1 ? "1 epoch" : "";
    text +=
        fmt::format("\n  {}: {} tokens, {}{}, {} samples of which the run takes {}",
                    sources_[i].file().prefix(), sources_[i].num_tokens(),
                    *epochs != 0 ? epochs : fmt::format("{} epochs shuffled together", maps_[i].epochs()),
                    maps_[i].separate_last_epoch() ? " but for the last" : "", maps_[i].size(), wanted(i));
  }
  return text;
}

}  // namespace shoal
