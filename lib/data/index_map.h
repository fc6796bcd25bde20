// The sample orders of GPT-NeoX and Megatron-LM: documents are shuffled over all epochs of a run together,
// packed into one stream, cut into rows, and the rows are shuffled.
//   GPT-NeoX     megatron/data/gpt2_dataset.py and helpers.cpp, "packed"; v1.0 and later give the same
//   Megatron-LM  megatron/core/datasets/gpt_dataset.py
//
// Those programs store three arrays. The two shuffles cannot be had in closed form and are kept: 4 bytes for
// each document and epoch, 4 for each sample. The third one, where each sample begins, is a prefix sum over
// the sizes of the shuffled documents, of which one value in 64 is kept, and a binary search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/huge_pages.h"

namespace shoal {

class NumpyRandom;

enum class PublishedOrder { gpt_neox, megatron };

class IndexMap {
 public:
  // sizes: tokens of each document; samples of seq_length + 1 tokens that share one with their neighbour.
  // epochs 0: the fewest that give needed_samples; a number freezes the order, which depends on it. At least
  // one sample must fit.
  IndexMap(PublishedOrder order, std::vector<int32_t> sizes, int64_t seq_length, int64_t needed_samples,
           int64_t epochs, uint32_t seed);

  // The order that index files state: documents of the stream, each below sizes.size(), and the shuffle of
  // its (tokens - 1) / seq_length samples.
  IndexMap(PublishedOrder order, std::vector<int32_t> sizes, int64_t seq_length,
           std::vector<int32_t> documents, std::vector<int64_t> shuffle);

  // Samples that can be served. GPT-NeoX never serves the last one of its shuffle.
  int64_t size() const { return size_; }
  int64_t num_rows() const { return int64_t(narrow_.size() + wide_.size()); }
  int64_t epochs() const { return epochs_; }
  int64_t seq_length() const { return seq_length_; }
  // Megatron-LM shuffles a last epoch of which less than 80 % is used on its own.
  bool separate_last_epoch() const { return separate_last_epoch_; }

  // The shuffle: which row of the stream is served as sample i < num_rows().
  int64_t row_of(int64_t sample) const {
    return wide_.empty() ? int64_t(narrow_[size_t(sample)]) : wide_[size_t(sample)];
  }
  // Where sample i begins in the stream of documents, in tokens.
  int64_t begin_of(int64_t sample) const { return seq_length_ * row_of(sample); }

  // The place in the stream's list of documents that holds a token, and the token's number in that document.
  std::pair<int64_t, int64_t> place_of(int64_t token) const;

  // Calls visit(document, first token in it, count) for the parts of [begin, begin + count) of the stream.
  template <typename Visit>
  void for_each_part(int64_t begin, int64_t count, Visit&& visit) const {
    for (auto [at, first] = place_of(begin); count > 0; ++at, first = 0) {
      const int32_t document = documents_[size_t(at)];
      const int64_t n = std::min(count, sizes_[size_t(document)] - first);
      if (n > 0) visit(int64_t(document), first, n);
      count -= n;
    }
  }

  const std::vector<int32_t>& documents() const { return documents_; }  // in the order of the stream
  int64_t num_tokens() const { return num_tokens_; }                    // of the stream

 private:
  static constexpr int64_t kBlock = 64;  // documents between two stored prefix sums
  void add_up();
  template <typename Rows>
  void shuffle_rows(Rows& rows, int64_t together, NumpyRandom& random);

  int64_t seq_length_, epochs_ = 1, size_ = 0, num_tokens_ = 0;
  bool separate_last_epoch_ = false;
  std::vector<int32_t> sizes_, documents_;
  std::vector<int64_t> starts_;  // first token in the stream of each block of documents
  HugeVector<uint32_t> narrow_;  // the shuffle of the samples; wide_ when there are 2^32 or more
  HugeVector<int64_t> wide_;
};

}  // namespace shoal
