#include "data/index_map.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "data/numpy_random.h"

namespace shoal {

IndexMap::IndexMap(PublishedOrder order, const std::vector<int32_t>& sizes, int64_t seq_length,
                   int64_t needed_samples, int64_t epochs, uint32_t seed)
    : seq_length_(seq_length), epochs_(epochs) {
  const int64_t tokens = std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
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
  const auto count = int64_t(sizes.size());
  documents_.resize(size_t(count * epochs_));
  for (size_t i = 0; i < documents_.size(); ++i) documents_[i] = int32_t(int64_t(i) % count);
  const int64_t together = separate_last_epoch_ ? (epochs_ - 1) * count : epochs_ * count;
  random.shuffle(documents_.data(), together);
  random.shuffle(documents_.data() + together, epochs_ * count - together);
  starts_.reserve(documents_.size() + 1);
  starts_.push_back(0);
  for (int32_t document : documents_) starts_.push_back(starts_.back() + sizes[size_t(document)]);

  if (samples <= INT64_C(0xffffffff)) {
    narrow_.resize(size_t(samples));
    std::iota(narrow_.begin(), narrow_.end(), 0u);
  } else {
    wide_.resize(size_t(samples));
    std::iota(wide_.begin(), wide_.end(), int64_t(0));
  }
  shuffle_samples(0, separate_last_epoch_ ? before_last : samples, random);
  if (separate_last_epoch_) shuffle_samples(before_last, samples, random);
  size_ = order == PublishedOrder::gpt_neox ? samples - 1 : samples;
}

void IndexMap::shuffle_samples(int64_t first, int64_t end, NumpyRandom& random) {
  if (wide_.empty()) {
    random.shuffle(narrow_.data() + first, end - first);
  } else {
    random.shuffle(wide_.data() + first, end - first);
  }
}

size_t IndexMap::place_of(int64_t token) const {
  return size_t(std::upper_bound(starts_.begin(), starts_.end(), token) - starts_.begin() - 1);
}

}  // namespace shoal
