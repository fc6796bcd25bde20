#include "train/fixed_point.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

constexpr double unit = 0x1p-32, units = 0x1p32;          // of high
constexpr double low_unit = 0x1p-48, low_units = 0x1p48;  // of low, in units of high
constexpr int64_t low_mask = (int64_t{1} << 48) - 1;
constexpr double largest = 0x1p62;

}  // namespace

bool add_fixed(const float* values, int64_t count, bool accumulate, FixedPoint sums) {
  int64_t bad = 0;
  int64_t *high = sums.high, *low = sums.low;
#pragma omp parallel for simd reduction(+ : bad)
  for (int64_t i = 0; i < count; ++i) {
    const double scaled = double(values[i]) * units;
    const bool fits = std::abs(scaled) < largest;  // not so a NaN
    const double value = fits ? scaled : 0;
    bad += fits ? 0 : 1;
    const double whole = std::floor(value);
    const auto h = static_cast<int64_t>(whole);
    // Exact: the fraction of a multiple of its own last bit; then rounded to a multiple of 2^-80.
    const auto l = static_cast<int64_t>(std::rint((value - whole) * low_units));
    const int64_t sum = l + (accumulate ? low[i] : 0);
    high[i] = h + (accumulate ? high[i] : 0) + (sum >> 48);
    low[i] = sum & low_mask;
  }
  return bad == 0;
}

void to_float(FixedPoint sums, int64_t count, float* values) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < count; ++i) {
    const int64_t high = sums.high[i] + (sums.low[i] >> 48), low = sums.low[i] & low_mask;
    values[i] = static_cast<float>((double(high) + double(low) * low_unit) * unit);
  }
}

bool add_squares(const float* values, int64_t count, int64_t& high, int64_t& low) {
  // high counts 2^-20, so that sums up to 2^43 fit; low 2^-60. A block's low parts fit into 63 bits.
  constexpr double square_units = 0x1p20, most = 0x1p62, parts = 0x1p40;
  constexpr int64_t block = 1 << 20;
  int64_t bad = 0;
  for (int64_t first = 0; first < count; first += block) {
    const int64_t end = std::min(count, first + block);
    int64_t sum_high = 0, sum_low = 0;
#pragma omp parallel for simd reduction(+ : bad, sum_high, sum_low)
    for (int64_t i = first; i < end; ++i) {
      const double square = double(values[i]) * double(values[i]) * square_units;
      const bool fits = square < most;
      const double value = fits ? square : 0;
      bad += fits ? 0 : 1;
      const double whole = std::floor(value);
      sum_high += static_cast<int64_t>(whole);
      sum_low += static_cast<int64_t>(std::rint((value - whole) * parts));
    }
    low += sum_low;
    high += sum_high + (low >> 40);
    low &= (int64_t{1} << 40) - 1;
  }
  return bad == 0;
}

double square_sum(int64_t high, int64_t low) {
  high += low >> 40;
  low &= (int64_t{1} << 40) - 1;
  return double(high) * 0x1p-20 + double(low) * 0x1p-60;
}

}  // namespace shoal
