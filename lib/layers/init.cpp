// Only +, -, *, / and sqrt are used, and CMakeLists.txt forbids their contraction to fused operations here,
// so that IEEE arithmetic gives the same bits whatever the instruction set and the mathematical library.
#include "layers/init.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace shoal {
namespace {

constexpr int64_t group = 64;  // Philox blocks drawn before the vector code turns them into normals

// The natural logarithm of a normal positive double, to about 1e-13: log(m 2^e) = e log 2 + 2
// atanh((m-1)/(m+1)).
inline double natural_log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  // Moves the mantissa to sqrt(1/2) .. sqrt(2).
  const uint64_t shifted = bits - 0x3fe6a09e667f3bcdULL;
  const int64_t exponent = static_cast<int64_t>(shifted) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  const double series =
      1.0 +
      s2 * (1.0 / 3 + s2 * (1.0 / 5 + s2 * (1.0 / 7 + s2 * (1.0 / 9 + s2 * (1.0 / 11 + s2 * (1.0 / 13))))));
  return static_cast<double>(exponent) * 0.693147180559945309417 + 2.0 * s * series;
}

// Taylor series of the sine and the cosine, for |x| <= pi/4.
inline double sine(double x) {
  const double t = x * x;
  return x * (1.0 + t * (-1.0 / 6 +
                         t * (1.0 / 120 + t * (-1.0 / 5040 + t * (1.0 / 362880 + t * (-1.0 / 39916800))))));
}
inline double cosine(double x) {
  const double t = x * x;
  return 1.0 +
         t * (-0.5 + t * (1.0 / 24 + t * (-1.0 / 720 +
                                          t * (1.0 / 40320 + t * (-1.0 / 3628800 + t * (1.0 / 479001600))))));
}

// Box-Muller on two 32-bit words.
inline void normal_pair(uint32_t a, uint32_t b, double& z0, double& z1) {
  const double u = (static_cast<double>(a) + 0.5) * 0x1.0p-32;
  const double radius = std::sqrt(-2.0 * natural_log(u));
  // b/2^32 of a turn: the top two bits say the quarter, the rest the angle around its middle.
  const uint32_t quarter = b >> 30;
  const double angle = (static_cast<double>(static_cast<int32_t>(b & 0x3fffffffu) - 0x20000000) + 0.5) *
                       (1.57079632679489661923 * 0x1.0p-30);
  const double s = sine(angle), c = cosine(angle);
  const bool swap = (quarter & 1u) != 0;
  const double sign = (quarter & 2u) != 0 ? -radius : radius;
  z0 = sign * (swap ? -s : c);
  z1 = sign * (swap ? c : s);
}

// Draws of `blocks` (at most `group`) Philox blocks from block `first` on.
void draw(const Philox& stream, uint64_t first, int64_t blocks, double* z) {
  uint32_t words[4 * group];
  for (int64_t i = 0; i < blocks; ++i) {
    const auto w = stream.block(first + static_cast<uint64_t>(i));
    std::copy(w.begin(), w.end(), words + 4 * i);
  }
#pragma omp simd
  for (int64_t i = 0; i < 2 * blocks; ++i)
    normal_pair(words[2 * i], words[2 * i + 1], z[2 * i], z[2 * i + 1]);
}

// The first try after the draw itself that lies within the bound; tries differ in the top byte of the
// counter.
double redraw(const Philox& stream, int64_t element, double bound) {
  const auto n = static_cast<uint64_t>(element);
  for (uint64_t attempt = 1;; ++attempt) {
    double z[4];
    draw(stream, (n / 4) | (attempt << 56), 1, z);
    if (std::abs(z[n % 4]) <= bound) return z[n % 4];
  }
}

}  // namespace

void fill_normal(const Philox& stream, int64_t first, int64_t count, double std, double truncate,
                 float* out) {
  const int64_t begin = first / 4 / group, end = (first + count + 4 * group - 1) / (4 * group);
#pragma omp parallel for schedule(static)
  for (int64_t g = begin; g < end; ++g) {
    double z[4 * group];
    draw(stream, static_cast<uint64_t>(g * group), group, z);
    const int64_t base = g * group * 4;
    for (int64_t n = std::max(first, base); n < std::min(first + count, base + 4 * group); ++n) {
      double value = z[n - base];
      if (truncate > 0 && std::abs(value) > truncate) value = redraw(stream, n, truncate);
      out[n - first] = static_cast<float>(std * value);
    }
  }
}

}  // namespace shoal
