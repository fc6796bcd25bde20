// NumPy's legacy generator, numpy.random.RandomState(seed), as far as published sample orders use it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace shoal {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : generator_(seed) {}

  uint32_t bits() { return uint32_t(generator_()); }

  // Uniform in 0 .. largest: draws under the next mask of ones until one is not too large.
  uint64_t bounded(uint64_t largest) {
    if (largest == 0) return 0;  // without a draw
    for (;;) {
      const uint64_t draw = masked(largest);
      if (draw <= largest) return draw;
    }
  }

  // As shuffle() of a one-dimensional array: the result depends on the length and the state only. The draws
  // do not depend on the values, so that a block of them is made while the memory that the block before needs
  // is fetched; a draw that is too large is overwritten, without a branch that cannot be foreseen.
  template <typename T>
  void shuffle(T* values, int64_t count) {
    constexpr int64_t kBlock = 256;
    std::array<std::array<uint64_t, kBlock>, 2> partners{};
    int64_t drawn = count - 1;
    const auto draw_block = [&](std::array<uint64_t, kBlock>& block) {
      const int64_t first = drawn, last = std::max<int64_t>(drawn - kBlock, 0);
      while (drawn > last) {
        const auto largest = uint64_t(drawn);
        const uint64_t draw = masked(largest);
        block[size_t(first - drawn)] = draw;
        __builtin_prefetch(values + std::min(draw, largest), 1);
        drawn -= draw <= largest;
      }
    };
    draw_block(partners[0]);
    for (int64_t i = count - 1, number = 0; i > 0; ++number) {
      draw_block(partners[size_t(number + 1) % 2]);
      const auto& block = partners[size_t(number) % 2];
      const int64_t end = std::max<int64_t>(i - kBlock, 0);
      for (size_t at = 0; i > end; --i, ++at) std::swap(values[i], values[block[at]]);
    }
  }

 private:
  // A draw under the next mask of ones.
  uint64_t masked(uint64_t largest) {
    uint64_t draw = bits();
    if (largest > 0xffffffff) draw = (draw << 32) | bits();  // the first draw is the upper half
    return draw & (UINT64_MAX >> std::countl_zero(largest));
  }

  // std::mt19937 with a state of 32-bit words, of which the compiler makes vectors.
  std::mersenne_twister_engine<uint32_t, 32, 624, 397, 31, 0x9908b0df, 11, 0xffffffff, 7, 0x9d2c5680, 15,
                               0xefc60000, 18, 1812433253>
      generator_;
};

}  // namespace shoal
