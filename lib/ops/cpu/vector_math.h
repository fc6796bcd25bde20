// Elementary functions for one f32, without branches or calls, so that a compiler turns a loop over them into
// vectors. Errors are relative and were measured over the stated range against f64. NaN goes through.
#pragma once

#include <algorithm>
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

// Beyond this a sigmoid and a tail of the normal distribution are 0 or 1 to the last bit. Arguments are cut
// to it, so that no exponential leaves its range and no power overflows; a NaN is cut too, so the caller is
// to bring it back by a factor of x. By integers, because floats that are compared cost a mask.
constexpr float saturated = 128.0f;
SHOAL_INLINE float cut_magnitude(float x) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(x) & 0x7fffffffu;
  return std::bit_cast<float>(std::min(magnitude, std::bit_cast<uint32_t>(saturated)));
}
SHOAL_INLINE float cut(float x) {
  const uint32_t sign = std::bit_cast<uint32_t>(x) & 0x80000000u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(cut_magnitude(x)) | sign);
}

// e^x within 2e-7 where the result is a normal number; 0 below and infinity above that. |x| is to stay under
// 1e14, infinity included. The exponent is split as n ln 2 + r with |r| <= ln 2 / 2: adding 1.5 * 2^23 rounds
// x / ln 2 to n and leaves it in the low bits; e^r is a minimax polynomial (error 3e-9).
SHOAL_INLINE float exp(float x) {
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23
  constexpr auto shift_bits = std::bit_cast<int32_t>(shift);
  constexpr float log2_e = 1.44269504f, ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
  const float shifted = x * log2_e + shift;
  const float n = shifted - shift;
  const float r = (x - n * ln2_high) - n * ln2_low;
  float p = 0.00138145406f;
  p = p * r + 0.00836874545f;
  p = p * r + 0.041668389f;
  p = p * r + 0.166665211f;
  p = p * r + 0.49999994f;
  p = p * (r * r) + (r + 1.0f);
  // Clamped as integers, -127 gives the power 0 and 128 infinity; p carries a NaN.
  const int32_t bits = std::clamp(std::bit_cast<int32_t>(shifted), shift_bits - 127, shift_bits + 128);
  const float power = std::bit_cast<float>((static_cast<uint32_t>(bits) << 23) + 0x3f800000u);
  return p * power;
}

// 1 / (1 + e^-x) within 4e-7 for x >= -87.
SHOAL_INLINE float sigmoid(float x) {
  return 1.0f / (1.0f + exp(-x));
}

// The standard normal distribution up to x, and its density there, for a NaN 1 and 0; both relative errors
// are within 5e-6 for |x| <= 12.
struct Normal {
  float cumulative, density;
};

// The upper tail is e^(-x^2/2) times a slowly falling function of |x|, here a polynomial in 1 / (1 + 0.305
// |x|) fitted for the least relative error (9e-8).
SHOAL_INLINE Normal normal(float x) {
  const float magnitude = cut_magnitude(x);
  const float e = exp(-0.5f * (magnitude * magnitude));
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

// The sum of f(0) .. f(n - 1), in as many lanes as hide the latency of an addition. An OpenMP reduction would
// add up the lanes one after the other at its end, which costs more than a short row.
template <typename T = float, typename F>
SHOAL_INLINE T sum(int64_t n, F&& f) {
  constexpr int64_t lanes = 256 / int64_t{sizeof(T)};
  alignas(64) T sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
#pragma omp simd
    for (int64_t lane = 0; lane < lanes; ++lane) sums[lane] += f(i + lane);
  }
  for (int64_t lane = 0; i + lane < n; ++lane) sums[lane] += f(i + lane);
  for (int64_t width = lanes / 2; width > 0; width /= 2) {
#pragma omp simd
    for (int64_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return sums[0];
}

// The larger of a and of x[0] .. x[n - 1]; NaNs are passed over.
SHOAL_INLINE float maximum(float a, const float* x, int64_t n) {
  const int64_t half = n / 2;
  float b = a;
#pragma omp simd reduction(max : a, b)
  for (int64_t i = 0; i < half; ++i) {
    a = x[i] > a ? x[i] : a;
    b = x[i + half] > b ? x[i + half] : b;
  }
  a = b > a ? b : a;
  return n % 2 != 0 && x[n - 1] > a ? x[n - 1] : a;
}

}  // namespace shoal::cpu
