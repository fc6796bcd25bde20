// Element types. bf16 is storage only: arithmetic is done in f32.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace shoal {

enum class DType : uint8_t { f32, bf16, f64, i32, i64, u8, u16 };

int64_t size_of(DType dtype);           // bytes an element
std::string_view name_of(DType dtype);  // "f32", ...

// Brain floating point: the upper half of an IEEE float, rounded to nearest even; NaN stays NaN.
struct bf16 {
  uint16_t bits = 0;

  bf16() = default;
  explicit bf16(float value) {
    const uint32_t u = std::bit_cast<uint32_t>(value);
    const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
    const uint32_t rounded = u + 0x7fffu + ((u >> 16) & 1u);
    bits = static_cast<uint16_t>(nan ? ((u >> 16) | 0x40u) : (rounded >> 16));
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};
static_assert(sizeof(bf16) == 2);

template <typename T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<bf16>() {
  return DType::bf16;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<uint16_t>() {
  return DType::u16;
}

}  // namespace shoal
