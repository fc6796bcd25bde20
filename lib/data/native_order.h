// The order "native": what each sample of a split is, in closed form.
//
// Training reads each source in epochs. In an epoch the source is one stream of tokens, its documents in file
// order; it is cut into rows of seq_length + 1 tokens that overlap by one, and the rows are served in the
// order of a pseudo-random permutation (permutation.h). From the second epoch on the stream begins at a
// random token and goes round, so that rows begin elsewhere, and the tail that an epoch leaves out (under
// seq_length tokens) is another one. A sample is found in O(1), from (data seed, number of the source, index)
// alone; the other sources, the batch size, the number of steps and the ranks do not matter.
//
// Neighbouring documents meet in a row: an epoch shuffles rows, not documents. Where neighbours in a file are
// related, shuffle the documents before they are tokenised.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/blend.h"
#include "data/dataset.h"
#include "data/token_rows.h"

namespace shoal {

// One training source: as many samples as anybody asks for.
class ShuffledRows {
 public:
  ShuffledRows(TokenRows rows, uint64_t seed, int source);  // rows.size() >= 1
  void read(int64_t index, int32_t* row) const;
  const TokenRows& rows() const { return rows_; }

 private:
  TokenRows rows_;
  uint64_t seed_, stream_;
};

// A training split: sources blended by weight.
class BlendedSource : public SampleSource {
 public:
  BlendedSource(std::vector<ShuffledRows> sources, const std::vector<double>& weights, int64_t size);
  int64_t size() const override { return size_; }
  int64_t seq_length() const override { return sources_[0].rows().seq_length(); }
  void read(int64_t index, int32_t* row) const override;
  std::string describe() const override;

 private:
  std::vector<ShuffledRows> sources_;
  std::vector<double> weights_;
  Blend blend_;
  int64_t size_;
};

// A validation or test split: the rows of every source once, in the order of the files.
class SequentialSource : public SampleSource {
 public:
  explicit SequentialSource(std::vector<TokenRows> sources);
  int64_t size() const override { return first_.back(); }
  int64_t seq_length() const override { return sources_[0].seq_length(); }
  void read(int64_t index, int32_t* row) const override;
  std::string describe() const override;

 private:
  std::vector<TokenRows> sources_;
  std::vector<int64_t> first_;  // first sample of each source, and the size
};

}  // namespace shoal
