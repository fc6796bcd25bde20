// Which source each sample of a blend comes from, as a function of the sample's index.
#pragma once

#include <cstdint>
#include <vector>

namespace shoal {

// The sources are the leaves of a Huffman tree over their weights. A node that has handed out m samples has
// given round(p m) of them to its left child, p being the child's share of the node's weight. So both
// directions are closed forms: count() walks from the root to a leaf, at() follows a sample down. Nothing is
// stored but the tree.
//
// After n samples the count of a source differs from weight * n by less than 1 with up to three sources, and
// by less than 1.7 with any number: the error of a leaf is at most half of sum(weight / weight of ancestor)
// over its ancestors below the root, and Huffman's ancestors grow at least like Fibonacci's numbers. Shares
// are fractions of 2^64, so that every machine gets the same answer.
class Blend {
 public:
  // Positive weights, any scale.
  explicit Blend(const std::vector<double>& weights);

  struct Pick {
    int source;
    int64_t index;  // among the samples of that source
  };
  Pick at(int64_t sample) const;
  int64_t count(int source, int64_t samples) const;  // of the first `samples` samples
  int num_sources() const { return num_sources_; }

 private:
  struct Node {
    uint64_t left_share = 0;  // of 2^64
    int left = -1, right = -1;
  };
  int64_t left_count(const Node& node, int64_t samples) const;

  int num_sources_;
  std::vector<Node> nodes_;  // leaves first, the root last
  std::vector<int> parent_;  // of each node; -1 for the root
};

}  // namespace shoal
