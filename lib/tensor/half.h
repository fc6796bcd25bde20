// IEEE 754 binary16, which files hold and nothing here computes in.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace shoal {

inline float half_to_float(uint16_t half) {
  const float sign = (half & 0x8000u) ? -1.0f : 1.0f;
  const int exponent = (half >> 10) & 31;
  const auto mantissa = static_cast<float>(half & 0x3ffu);
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024.0f + mantissa, exponent - 25));
}

// Rounds to nearest, ties to even; what is too large becomes infinite.
inline uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {  // 65520, halfway between the largest half and the next power of two
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // subnormal: 0.5f has the spacing of the subnormal halves, 2^-24
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
  } else {
    half = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

}  // namespace shoal
