// Copies of strided rows in the two layouts that the tile product reads, and back.
#pragma once

#include <algorithm>

#include "ops/cpu/attention_tile.h"

namespace shoal::cpu {

// The rows of one (batch, key-value head): row i is head i % heads at position i / heads. Keys have one head
// a position.
template <typename T>
struct Rows {
  T* data;
  int64_t position_stride;
  int64_t head_stride = 0;
  int64_t heads = 1;

  T* operator()(int64_t i) const {
    if (heads == 1) return data + i * position_stride;
    return data + i / heads * position_stride + i % heads * head_stride;
  }
};

// Elements d, d + 1, ... of a row of width D, where a vector can read them: in place, or copied with zeros
// behind them. A null row is all zeros.
template <typename T, int wanted>
inline const T* padded(const T* row, int64_t d, int64_t D, T (&buffer)[wanted]) {
  if (row && d + wanted <= D) return row + d;
  std::fill(buffer, buffer + wanted, T{});
  if (row && d < D) std::copy_n(row + d, D - d, buffer);
  return buffer;
}

// The rows of one head lie far apart, which no hardware prefetcher follows: those `ahead` are asked for.
template <typename T>
inline void prefetch(const T* row, int64_t D) {
  for (int64_t d = 0; d < D; d += 64 / int64_t(sizeof(T))) __builtin_prefetch(row + d);
}
inline constexpr int64_t ahead = 16;

// Rows [first, first + count) of width D, transposed: panels [D in units][panel_width rows]. As b it
// multiplies from the right by the rows' transpose; as a, tile i of a panel starts at i * tile_rows with
// strides (1, panel_width). Rows that fill the last panel are zeros.
template <class Product, typename T>
void pack_transposed(const Rows<const T>& rows, int64_t first, int64_t count, int64_t D,
                     typename Product::Unit* out) {
  using simd::lanes;
  constexpr int step = lanes * Product::per_unit;
  const int64_t depth = ceil_div(D, Product::per_unit);
  for (int64_t r = 0; r < round_up(count, panel_width); r += lanes) {
    typename Product::Unit* to = out + r / panel_width * depth * panel_width + r % panel_width;
    const T* row[lanes];
    for (int i = 0; i < lanes; ++i) {
      row[i] = r + i < count ? rows(first + r + i) : nullptr;
      if (r + ahead + i < count) prefetch(rows(first + r + ahead + i), D);
    }
    for (int64_t u = 0; u < depth; u += lanes) {
      const int64_t d = u * Product::per_unit;
      simd::Words square[lanes];
      for (int i = 0; i < lanes; ++i) {
        T buffer[step];
        square[i] = Product::load_units(padded(row[i], d, D, buffer));
      }
      simd::transpose(square);
      const int64_t n = std::min<int64_t>(lanes, depth - u);
      for (int64_t i = 0; i < n; ++i) simd::store(to + (u + i) * panel_width, square[i]);
    }
  }
}

// Rows [first, first + count) of width D as they are: panels [count in units][panel_width of D]. Columns
// beyond D, and a row that fills the last unit, are zeros.
template <class Product, typename T>
void pack_natural(const Rows<const T>& rows, int64_t first, int64_t count, int64_t D,
                  typename Product::Unit* out) {
  using simd::lanes;
  const int64_t depth = ceil_div(count, Product::per_unit);
  for (int64_t u = 0; u < depth; ++u) {
    const T* row[Product::per_unit];
    for (int i = 0; i < Product::per_unit; ++i) {
      const int64_t r = u * Product::per_unit + i;
      row[i] = r < count ? rows(first + r) : nullptr;
      if (r + ahead < count) prefetch(rows(first + r + ahead), D);
    }
    for (int64_t d = 0; d < round_up(D, panel_width); d += lanes) {
      T buffer[Product::per_unit][lanes];
      const T* part[Product::per_unit];
      for (int i = 0; i < Product::per_unit; ++i) part[i] = padded(row[i], d, D, buffer[i]);
      simd::store(out + (d / panel_width * depth + u) * panel_width + d % panel_width,
                  Product::interleave(part));
    }
  }
}

inline void store_scaled(float* to, const float* from, int64_t D, float factor) {
  for (int64_t d = 0; d < D; ++d) to[d] = from[d] * factor;
}
inline void store_scaled(bf16* to, const float* from, int64_t D, float factor) {
  int64_t d = 0;
#if defined(__AVX512BF16__)
  for (; d + simd::lanes <= D; d += simd::lanes) {
    simd::store(to + d, _mm512_cvtneps_pbh(simd::load<simd::Floats>(from + d) * factor));
  }
#endif
  for (; d < D; ++d) to[d] = bf16(from[d] * factor);
}

}  // namespace shoal::cpu
