#include "data/index_map.h"

#include <numeric>

#include "base/check.h"
#include "data/numpy_random.h"

namespace shoal {

IndexMap::IndexMap(PublishedOrder order, std::vector<int32_t> sizes, int64_t seq_length,
                   int64_t needed_samples, int64_t epochs, uint32_t seed)
    : seq_length_(seq_length), epochs_(epochs), sizes_(std::move(sizes)) {
  const int64_t tokens = std::accumulate(sizes_.begin(), sizes_.end(), int64_t(0));
  SHOAL_CHECK(tokens > seq_length);
  const auto samples_in = [&](int64_t e) { return (e * tokens - 1) / seq_length; };
  if (epochs_ == 0) {
    epochs_ = std::max<int64_t>(1, (needed_samples * seq_length + tokens) / tokens);
    while (samples_in(epochs_) < needed_samples) ++epochs_;
    while (epochs_ > 1 && samples_in(epochs_ - 1) >= needed_samples) --epochs_;
  }
  const int64_t samples = samples_in(epochs_);
  const int64_t before_last = samples_in(epochs_ - 1);  // samples that end before the last epoch
  if (order == PublishedOrder::megatron && epochs_ > 1) {
    const int64_t in_last = needed_samples - before_last;
    separate_last_epoch_ = in_last < int64_t(0.80 * double(samples_in(1)));
  }

  NumpyRandom random(seed);
  const auto count = int64_t(sizes_.size());
  documents_.reserve(size_t(count * epochs_));
  for (int64_t epoch = 0; epoch < epochs_; ++epoch) {
    for (int32_t document = 0; document < int32_t(count); ++document) documents_.push_back(document);
  }
  const int64_t together = separate_last_epoch_ ? (epochs_ - 1) * count : epochs_ * count;
  random.shuffle(documents_.data(), together);
  random.shuffle(documents_.data() + together, epochs_ * count - together);
  add_up();

  narrow_.resize(samples <= INT64_C(0xffffffff) ? size_t(samples) : 0);
  wide_.resize(narrow_.empty() ? size_t(samples) : 0);
  const int64_t rows_together = separate_last_epoch_ ? before_last : samples;
  wide_.empty() ? shuffle_rows(narrow_, rows_together, random) : shuffle_rows(wide_, rows_together, random);
  size_ = order == PublishedOrder::gpt_neox ? samples - 1 : samples;
}

IndexMap::IndexMap(PublishedOrder order, std::vector<int32_t> sizes, int64_t seq_length,
                   std::vector<int32_t> documents, std::vector<int64_t> shuffle)
    : seq_length_(seq_length), sizes_(std::move(sizes)), documents_(std::move(documents)) {
  epochs_ = int64_t(documents_.size() / std::max<size_t>(sizes_.size(), 1));
  add_up();
  const auto samples = int64_t(shuffle.size());
  SHOAL_CHECK(samples == (num_tokens_ - 1) / seq_length_);
  if (samples <= INT64_C(0xffffffff)) {
    narrow_.assign(shuffle.begin(), shuffle.end());
  } else {
    wide_.assign(shuffle.begin(), shuffle.end());
  }
  size_ = order == PublishedOrder::gpt_neox ? samples - 1 : samples;
}

void IndexMap::add_up() {
  starts_.reserve(documents_.size() / size_t(kBlock) + 1);
  for (size_t at = 0; at < documents_.size(); ++at) {
    if (at % size_t(kBlock) == 0) starts_.push_back(num_tokens_);
    num_tokens_ += sizes_[size_t(documents_[at])];
  }
}

template <typename Rows>
void IndexMap::shuffle_rows(Rows& rows, int64_t together, NumpyRandom& random) {
  std::iota(rows.begin(), rows.end(), typename Rows::value_type(0));
  random.shuffle(rows.data(), together);
  random.shuffle(rows.data() + together, int64_t(rows.size()) - together);
}

std::pair<int64_t, int64_t> IndexMap::place_of(int64_t token) const {
  SHOAL_CHECK(token >= 0 && token < num_tokens_);
  const auto block = std::upper_bound(starts_.begin(), starts_.end(), token) - starts_.begin() - 1;
  int64_t at = block * kBlock, first = token - starts_[size_t(block)];
  for (;; ++at) {
    const int64_t size = sizes_[size_t(documents_[size_t(at)])];
    if (first < size) return {at, first};
    first -= size;
  }
}

}  // namespace shoal
