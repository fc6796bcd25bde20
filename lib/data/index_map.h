// The sample orders of GPT-NeoX and Megatron-LM: documents are shuffled over all epochs of a run together,
// packed into one stream, cut into rows, and the rows are shuffled.
//   GPT-NeoX     megatron/data/gpt2_dataset.py and helpers.cpp, "packed"; v1.0 and later give the same
//   Megatron-LM  megatron/core/datasets/gpt_dataset.py
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shoal {

class NumpyRandom;

enum class PublishedOrder { gpt_neox, megatron };

class IndexMap {
 public:
  // sizes: tokens of each document; samples of seq_length + 1 tokens that share one with their neighbour.
  // epochs 0: the fewest that give needed_samples; a number freezes the order, which depends on it. At least
  // one sample must fit.
  IndexMap(PublishedOrder order, const std::vector<int32_t>& sizes, int64_t seq_length,
           int64_t needed_samples, int64_t epochs, uint32_t seed);

  // Samples that can be served. GPT-NeoX never serves the last one of its shuffle.
  int64_t size() const { return size_; }
  int64_t epochs() const { return epochs_; }
  // Megatron-LM shuffles a last epoch of which less than 80 % is used on its own.
  bool separate_last_epoch() const { return separate_last_epoch_; }

  // Where sample i begins in the stream of documents, in tokens.
  int64_t begin_of(int64_t sample) const {
    return seq_length_ * (wide_.empty() ? int64_t(narrow_[size_t(sample)]) : wide_[size_t(sample)]);
  }

  // Calls visit(document, first token in it, count) for the parts of [begin, begin + count) of the stream.
  template <typename Visit>
  void for_each_part(int64_t begin, int64_t count, Visit&& visit) const {
    for (size_t at = place_of(begin); count > 0; ++at) {
      const int64_t first = begin - starts_[at];
      const int64_t n = std::min(count, starts_[at + 1] - begin);
      if (n > 0) visit(int64_t(documents_[at]), first, n);
      begin += n;
      count -= n;
    }
  }

  const std::vector<int32_t>& documents() const { return documents_; }  // in the order of the stream

 private:
  size_t place_of(int64_t token) const;
  void shuffle_samples(int64_t first, int64_t end, NumpyRandom& random);

  int64_t seq_length_, epochs_ = 1, size_ = 0;
  bool separate_last_epoch_ = false;
  std::vector<int32_t> documents_;
  std::vector<int64_t> starts_;   // first token of each document in the stream, and the end
  std::vector<uint32_t> narrow_;  // the shuffle of the samples; wide_ when there are 2^32 or more
  std::vector<int64_t> wide_;
};

}  // namespace shoal
