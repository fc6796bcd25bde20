// Vectors of f32 in the widest registers of the target, for the attention kernels. The compiler's vector
// extensions lower to any instruction set; intrinsics stand only where they say more than the extensions can.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "tensor/dtype.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace shoal::cpu::simd {

#if defined(__AVX512F__)
inline constexpr int lanes = 16;
#elif defined(__AVX__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

typedef float Floats __attribute__((vector_size(lanes * 4)));
typedef int32_t Signed __attribute__((vector_size(lanes * 4)));
typedef uint32_t Words __attribute__((vector_size(lanes * 4)));
typedef uint16_t Halves __attribute__((vector_size(lanes * 2)));
using Lanes = std::make_integer_sequence<int, lanes>;

template <typename Vector>
inline Vector load(const void* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <typename Vector>
inline void store(void* to, Vector v) {
  std::memcpy(to, &v, sizeof v);
}

inline Floats splat(float x) {
  return Floats{} + x;
}

// The larger of a and b; a NaN in b stays, so that a diverged run is seen.
inline Floats maximum(Floats a, Floats b) {
#if defined(__AVX512F__)
  return _mm512_maskz_max_ps(0xffff, a,
                             b);  // all lanes; GCC 12 warns of the form without a mask (bug 105593)
#else
  return a > b ? a : b;
#endif
}

// The first `count` lanes of v, and -inf behind them.
template <int... lane>
inline Floats keep_lanes(Floats v, int64_t count, std::integer_sequence<int, lane...>) {
  constexpr Signed index = {lane...};
  return index < Signed{} + int32_t(count) ? v : splat(-std::numeric_limits<float>::infinity());
}
// Puts -inf at row[begin, end), a vector at a time, because a load from vectors and words just stored would
// wait for both; end is a multiple of the vector.
inline void mask_behind(float* row, int64_t begin, int64_t end) {
  for (int64_t j = begin - begin % lanes; j < end; j += lanes) {
    store(row + j, keep_lanes(load<Floats>(row + j), begin - j, Lanes{}));
  }
}

inline Words widen(Halves h) {
  return __builtin_convertvector(h, Words);
}
inline Floats widen_bf16(const bf16* from) {
  return reinterpret_cast<Floats>(widen(load<Halves>(from)) << 16);
}

// 2^x, within 2e-7 relative for -126.5 <= x <= 127, and exactly 0 below (also for -inf). The integer part is
// rounded out by adding a constant that leaves it, with the exponent's bias, in the low bits of the sum; the
// fraction in [-1/2, 1/2] goes through the minimax polynomial of degree 6 with p(0) = 1 (error 3e-9).
inline Floats exp2(Floats x) {
  x = maximum(splat(-127.0f), x);
  constexpr float magic = 12582912.0f + 127.0f;
  const Floats shifted = x + magic;
  const Floats f = x - (shifted - magic);
  Floats p = splat(1.5594678e-4f);
  p = p * f + 1.3406644e-3f;
  p = p * f + 9.6176930e-3f;
  p = p * f + 5.5503106e-2f;
  p = p * f + 2.4022653e-1f;
  p = p * f + 6.9314721e-1f;
  p = p * f + 1.0f;
  return p * reinterpret_cast<Floats>(reinterpret_cast<Words>(shifted) << 23);
}

template <int step, int... lane>
inline Floats exchange(Floats v, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(v, v, (lane ^ step)...);
}
template <int step = lanes / 2>
inline float horizontal_sum(Floats v) {
  if constexpr (step == 0) {
    return v[0];
  } else {
    return horizontal_sum<step / 2>(v + exchange<step>(v, Lanes{}));
  }
}
template <int step = lanes / 2>
inline float horizontal_maximum(Floats v) {
  if constexpr (step == 0) {
    return v[0];
  } else {
    return horizontal_maximum<step / 2>(maximum(v, exchange<step>(v, Lanes{})));
  }
}

// Swaps, between two rows of a square, the blocks that lie across its diagonal.
template <int step, int... lane>
inline void exchange_blocks(Words& a, Words& b, std::integer_sequence<int, lane...>) {
  const Words low = __builtin_shufflevector(a, b, ((lane & step) ? lanes + lane - step : lane)...);
  const Words high = __builtin_shufflevector(a, b, ((lane & step) ? lanes + lane : lane + step)...);
  a = low;
  b = high;
}
template <int step = 1>
inline void transpose(Words (&square)[lanes]) {
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) {
    if (!(i & step)) exchange_blocks<step>(square[i], square[i | step], Lanes{});
  }
  if constexpr (step < lanes / 2) transpose<2 * step>(square);
}

}  // namespace shoal::cpu::simd
