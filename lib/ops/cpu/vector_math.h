// Elementary functions for one f32, without branches or calls, so that a compiler turns a loop over them into
// vectors. Errors are relative and were measured over the stated range against f64. NaN goes through.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"

#define SHOAL_INLINE [[gnu::always_inline]] inline

namespace shoal::cpu {

SHOAL_INLINE float load(float x) {
  return x;
}
SHOAL_INLINE float load(bf16 x) {
  return float(x);
}

// The bits of bf16(x). GCC makes no vectors of a loop that stores objects of a class, but does of this.
SHOAL_INLINE uint16_t bf16_bits(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (u >> 16) | 0x40u;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded);
}
SHOAL_INLINE void store(float* to, float x) {
  *to = x;
}
SHOAL_INLINE void store(bf16* to, float x) {
  to->bits = bf16_bits(x);
}

// x as an element of type T would keep it.
template <typename T>
SHOAL_INLINE float rounded(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    return std::bit_cast<float>(uint32_t{bf16_bits(x)} << 16);
  }
}

// e^x within 2e-7 for -87.3 <= x <= 88.3; x is clamped to that range. The exponent is split as n ln 2 + r
// with |r| <= ln 2 / 2: adding 1.5 * 2^23 rounds x / ln 2 to an integer and leaves it in the low bits; e^r is
// a minimax polynomial.
SHOAL_INLINE float exp(float x) {
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23
  constexpr float log2_e = 1.44269504f, ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
  x = x < -87.3f ? -87.3f : x;
  x = x > 88.3f ? 88.3f : x;
  const float shifted = x * log2_e + shift;
  const float n = shifted - shift;
  const float r = (x - n * ln2_high) - n * ln2_low;
  float p = 0.00138145406f;
  p = p * r + 0.00836874545f;
  p = p * r + 0.041668389f;
  p = p * r + 0.166665211f;
  p = p * r + 0.49999994f;
  p = p * (r * r) + (r + 1.0f);
  const float power = std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) << 23) + 0x3f800000u);
  return p * power;
}

// 1 / (1 + e^-x) within 4e-7 for x >= -87.
SHOAL_INLINE float sigmoid(float x) {
  return 1.0f / (1.0f + exp(-x));
}

// The standard normal distribution up to x, and its density there; both relative errors are within 2e-6 for
// |x| <= 12.
struct Normal {
  float cumulative, density;
};

// The upper tail is e^(-x^2/2) times a slowly falling function of |x|, here a polynomial in 1 / (1 + 0.305
// |x|) fitted for the least relative error (9e-8).
SHOAL_INLINE Normal normal(float x) {
  const float magnitude = x < 0.0f ? -x : x;
  const float e = exp(-0.5f * (x * x));
  const float t = 1.0f / (1.0f + 0.305f * magnitude);
  float p = 0.0366990268f;
  p = p * t - 0.152987659f;
  p = p * t + 0.185715809f;
  p = p * t - 0.0379758589f;
  p = p * t + 0.121021181f;
  p = p * t + 0.10342101f;
  p = p * t + 0.122466795f;
  p = p * t + 0.121639736f;
  const float tail = e * (p * t);
  return {x < 0.0f ? tail : 1.0f - tail, 0.398942280f * e};
}

}  // namespace shoal::cpu
