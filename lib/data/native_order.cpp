#include "data/native_order.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/error.h"
#include "data/permutation.h"

namespace shoal {

ShuffledRows::ShuffledRows(TokenRows rows, uint64_t seed, int source)
    : rows_(std::move(rows)), seed_(seed), stream_(stream_id(fmt::format("data/order/{}", source))) {
  SHOAL_CHECK(rows_.size() >= 1);
}

void ShuffledRows::read(int64_t index, int32_t* row) const {
  const int64_t epoch = index / rows_.size();
  const auto key = Philox(seed_, stream_).block(uint64_t(epoch));
  const Permutation order((uint64_t(key[0]) << 32) | key[1], uint64_t(rows_.size()));
  const uint64_t draw = (uint64_t(key[2]) << 32) | key[3];
  const int64_t offset = epoch == 0 ? 0 : int64_t(draw % uint64_t(rows_.num_tokens()));
  rows_.read(int64_t(order(uint64_t(index % rows_.size()))), offset, row);
}

BlendedSource::BlendedSource(std::vector<ShuffledRows> sources, const std::vector<double>& weights,
                             int64_t size)
    : sources_(std::move(sources)), weights_(weights), blend_(weights), size_(size) {
  SHOAL_CHECK(sources_.size() == weights.size());
}

void BlendedSource::read(int64_t index, int32_t* row) const {
  SHOAL_CHECK(index >= 0 && index < size_);
  const auto pick = blend_.at(index);
  sources_[size_t(pick.source)].read(pick.index, row);
}

std::string BlendedSource::describe() const {
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  std::string text = fmt::format("{} samples of {} tokens", size_, seq_length());
  for (size_t i = 0; i < sources_.size(); ++i) {
    const TokenRows& rows = sources_[i].rows();
    const auto samples = blend_.count(int(i), size_);
    text += fmt::format("\n  {}: weight {:.4g}, {} tokens, {} samples = {:.2f} epochs", rows.file().prefix(),
                        weights_[i] / sum, rows.num_tokens(), samples, double(samples) / double(rows.size()));
  }
  return text;
}

SequentialSource::SequentialSource(std::vector<TokenRows> sources) : sources_(std::move(sources)), first_{0} {
  for (const TokenRows& rows : sources_) first_.push_back(first_.back() + rows.size());
}

void SequentialSource::read(int64_t index, int32_t* row) const {
  SHOAL_CHECK(index >= 0 && index < size());
  const auto source = size_t(std::upper_bound(first_.begin(), first_.end(), index) - first_.begin() - 1);
  sources_[source].read(index - first_[source], 0, row);
}

std::string SequentialSource::describe() const {
  std::string text = fmt::format("{} samples of {} tokens, in file order", size(), seq_length());
  for (const TokenRows& rows : sources_) {
    text +=
        fmt::format("\n  {}: {} tokens, {} samples", rows.file().prefix(), rows.num_tokens(), rows.size());
  }
  return text;
}

}  // namespace shoal
