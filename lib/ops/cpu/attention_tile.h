// The one product that attention is made of: a register tile of c (+)= a * b, over operands packed for it.
//
// An operand is made of 32-bit units along the summed dim: one f32, or a pair of bf16. b lies in panels
// [depth in units][panel_width units], read a vector at a time; a is read a unit at a time, anywhere, with
// both strides known when compiling. A tile is tile_rows x panel_width; with 512-bit registers that is 16
// accumulators, enough to hide the latency of the multiply-add.
#pragma once

#include "ops/cpu/attention_simd.h"

namespace shoal::cpu {

inline constexpr int tile_vectors = 2;
inline constexpr int panel_width = tile_vectors * simd::lanes;
inline constexpr int tile_rows = simd::lanes == 16 ? 8 : 4;

constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
constexpr int64_t round_up(int64_t a, int64_t b) {
  return ceil_div(a, b) * b;
}

// Operands in f32, from tensors in f32 or bf16.
struct Singles {
  using Unit = float;
  static constexpr int per_unit = 1;

  static simd::Floats multiply_add(simd::Words a, simd::Words b, simd::Floats c) {
    return reinterpret_cast<simd::Floats>(a) * reinterpret_cast<simd::Floats>(b) + c;
  }
  static simd::Words load_units(const float* from) { return simd::load<simd::Words>(from); }
  static simd::Words load_units(const bf16* from) {
    return reinterpret_cast<simd::Words>(simd::widen_bf16(from));
  }
  // Units of which each holds one summed index, from per_unit rows.
  static simd::Words interleave(const float* const* rows) { return load_units(rows[0]); }
  static simd::Words interleave(const bf16* const* rows) { return load_units(rows[0]); }
  static simd::Words round(const simd::Floats* x) { return reinterpret_cast<simd::Words>(x[0]); }
};

#if defined(__AVX512BF16__)
// Operands in bf16, two to a unit, from tensors in bf16.
struct Pairs {
  using Unit = uint32_t;
  static constexpr int per_unit = 2;

  static simd::Floats multiply_add(simd::Words a, simd::Words b, simd::Floats c) {
    return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
  static simd::Words load_units(const bf16* from) { return simd::load<simd::Words>(from); }
  static simd::Words interleave(const bf16* const* rows) {
    return simd::widen(simd::load<simd::Halves>(rows[0])) | simd::widen(simd::load<simd::Halves>(rows[1]))
                                                                << 16;
  }
  // 2 * lanes values of one row.
  static simd::Words round(const simd::Floats* x) {
    return reinterpret_cast<simd::Words>(_mm512_cvtne2ps_pbh(x[1], x[0]));
  }
  // lanes values of each of two rows, rounded together: as units of a sum over rows, and as units of each
  // row.
  static simd::Words interleave_halves(simd::Words rounded) {
    return interleave_halves(rounded, simd::Lanes{});
  }
  static void store_halves(simd::Words rounded, Unit* low, Unit* high) {
    std::memcpy(low, &rounded, sizeof rounded / 2);
    std::memcpy(high, reinterpret_cast<const char*>(&rounded) + sizeof rounded / 2, sizeof rounded / 2);
  }

 private:
  template <int... lane>
  static simd::Words interleave_halves(simd::Words rounded, std::integer_sequence<int, lane...>) {
    typedef uint16_t TwoRows __attribute__((vector_size(sizeof(simd::Words))));
    const auto x = reinterpret_cast<TwoRows>(rounded);
    return reinterpret_cast<simd::Words>(
        __builtin_shufflevector(x, x, (lane / 2 + (lane % 2) * simd::lanes)...,
                                (simd::lanes / 2 + lane / 2 + (lane % 2) * simd::lanes)...));
  }
};
#endif

// How a product multiplies tensors of type T on this target.
template <typename T>
struct ProductOf {
  using type = Singles;
};
#if defined(__AVX512BF16__)
template <>
struct ProductOf<bf16> {
  using type = Pairs;
};
#endif

// c [tile_rows, vectors * lanes] (+)= a [tile_rows, depth] * b [depth, ...]; element (i, k) of a is at
// a[i * a_row + k * a_step], depth in units.
template <class Product, int vectors, int a_row, int a_step, bool accumulate>
inline void multiply_tile(int64_t depth, const typename Product::Unit* a, const typename Product::Unit* b,
                          float* c, int64_t c_row) {
  using simd::Floats;
  using simd::Words;
  Floats sum[tile_rows][vectors];
#pragma GCC unroll 8
  for (int i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      sum[i][v] = accumulate ? simd::load<Floats>(c + i * c_row + v * simd::lanes) : Floats{};
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Words column[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) column[v] = simd::load<Words>(b + v * simd::lanes);
#pragma GCC unroll 8
    for (int i = 0; i < tile_rows; ++i) {
      uint32_t unit;
      std::memcpy(&unit, a + i * a_row, sizeof unit);
      const Words row = Words{} + unit;
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[i][v] = Product::multiply_add(row, column[v], sum[i][v]);
    }
    a += a_step;
    b += panel_width;
  }
#pragma GCC unroll 8
  for (int i = 0; i < tile_rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) simd::store(c + i * c_row + v * simd::lanes, sum[i][v]);
  }
}

// The same over `columns` <= panel_width columns of c; a narrow rest takes half the work.
template <class Product, int a_row, int a_step, bool accumulate>
inline void multiply_panel(int64_t columns, int64_t depth, const typename Product::Unit* a,
                           const typename Product::Unit* b, float* c, int64_t c_row) {
  if (columns > simd::lanes) {
    multiply_tile<Product, 2, a_row, a_step, accumulate>(depth, a, b, c, c_row);
  } else {
    multiply_tile<Product, 1, a_row, a_step, accumulate>(depth, a, b, c, c_row);
  }
}

}  // namespace shoal::cpu
