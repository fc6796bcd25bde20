// A keyed pseudo-random permutation of 0 .. size-1 that is computed, not stored: a Feistel network over the
// next power of two whose round function is Philox, walked along its cycles until it falls below size (Black
// and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). One value costs O(1): fewer than two
// walks on average.
#pragma once

#include <cstdint>

#include "base/philox.h"

namespace shoal {

class Permutation {
 public:
  // size >= 1.
  Permutation(uint64_t key, uint64_t size);
  uint64_t operator()(uint64_t i) const;  // i < size
  uint64_t size() const { return size_; }

 private:
  uint64_t network(uint64_t x) const;

  Philox round_;
  uint64_t size_;
  int low_bits_ = 0, high_bits_ = 0;
};

}  // namespace shoal
