// NumPy's legacy generator, numpy.random.RandomState(seed), as far as published sample orders use it.
#pragma once

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
    uint64_t mask = largest;
    for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    for (;;) {
      uint64_t draw = bits();
      if (largest > 0xffffffff) draw = (draw << 32) | bits();  // the first draw is the upper half
      draw &= mask;
      if (draw <= largest) return draw;
    }
  }

  // As shuffle() of a one-dimensional array: the result depends on the length and the state only.
  template <typename T>
  void shuffle(T* values, int64_t count) {
    for (int64_t i = count - 1; i > 0; --i) std::swap(values[i], values[bounded(uint64_t(i))]);
  }

 private:
  std::mt19937 generator_;
};

}  // namespace shoal
