#include "data/permutation.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace shoal {

namespace {
constexpr int kRounds = 8;     // even, so that the two halves end with the widths they began with
constexpr int kLeastBits = 6;  // with fewer, a Feistel network does not reach all permutations alike
}  // namespace

Permutation::Permutation(uint64_t key, uint64_t size) : round_(key, "data/permutation"), size_(size) {
  SHOAL_CHECK(size >= 1);
  const int bits = std::max(int(std::bit_width(size - 1)), kLeastBits);
  low_bits_ = bits / 2;
  high_bits_ = bits - low_bits_;
}

uint64_t Permutation::network(uint64_t x) const {
  int low_bits = low_bits_, high_bits = high_bits_;
  uint64_t low = x & ((uint64_t(1) << low_bits) - 1), high = x >> low_bits;
  for (int round = 0; round < kRounds; ++round) {
    // Both halves have at most 32 bits, so the round number fits above them.
    const uint64_t mix = round_.bits((uint64_t(round) << 32) | low);
    high ^= mix & ((uint64_t(1) << high_bits) - 1);
    std::swap(low, high);
    std::swap(low_bits, high_bits);
  }
  return (high << low_bits) | low;
}

uint64_t Permutation::operator()(uint64_t i) const {
  SHOAL_CHECK(i < size_);
  if (size_ <= 1) return 0;
  do {
    i = network(i);
  } while (i >= size_);
  return i;
}

}  // namespace shoal
