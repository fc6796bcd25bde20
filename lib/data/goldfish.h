// The goldfish loss (Hans et al., "Be like a Goldfish, Don't Memorize!", arXiv 2406.10209): about one target
// in k is left out of the loss, the same ones whenever the same passage is seen.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "spec/run_spec.h"

namespace shoal {

// The 1,000,003 uniforms of the strategy hash-table: a 32-bit Mersenne Twister with seed 2971215073, 24 bits
// a draw. This is what a PyTorch generator gives on a CPU; the table of a GPU is another one.
std::vector<float> goldfish_hash_table();

// The 32-bit integer hash of the strategy hash-avalanche.
uint32_t goldfish_avalanche(uint64_t key);

// Decides which targets are dropped.
//
//   static          positions start, start + k, start + 2 k ... of each row
//   seeded-random   each position with probability 1/k, drawn for (seed, global sample index, position)
//   hash-table      product p of h tokens as wrapping int64; drop if table[p mod 1000003] < 1/k (floor
//   modulo) hash-avalanche  the same product as uint64; drop if avalanche(p) < (2^32 - 1) / k
//
// The window of h tokens ends with the target itself, as in the authors' program, and is taken from the
// targets; or, with include_target false, it is the h tokens before the target, as in the paper's text.
// Positions whose window does not fit in the row are kept: the first h - 1 either way, because the row's
// first token is no target. With the product, a window that holds the id 0 always hashes to table[0] = 0.234:
// for k <= 4 every such target is dropped.
class Goldfish {
 public:
  // "none" keeps everything. Throws UserError at an unknown strategy, k < 2 or h < 1.
  Goldfish(const GoldfishSection& section, uint64_t seed);

  bool enabled() const { return strategy_ != Strategy::none; }

  // row: seq_length + 1 tokens, row[j + 1] being the target of position j. Sets weights[0 .. seq_length) to 1
  // (kept) or 0 and returns the number kept. Thread-safe.
  int64_t mask(int64_t sample, const int32_t* row, int64_t seq_length, float* weights) const;

 private:
  enum class Strategy { none, fixed, seeded_random, hash_table, hash_avalanche };
  bool drops(uint64_t product) const;

  Strategy strategy_ = Strategy::none;
  int64_t k_, h_, start_;
  bool include_target_;
  uint64_t seed_;
  std::vector<float> table_;
};

}  // namespace shoal
