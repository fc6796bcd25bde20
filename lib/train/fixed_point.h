// Sums of f32 values that do not depend on their order: each value is rounded once to a multiple of 2^-80 and
// added as an integer. Exact for values from 2^-56 on; below 2^30 in magnitude.
#pragma once

#include <cstdint>

namespace shoal {

// high + low 2^-48 units of 2^-32, low from 0 to 2^48 after each call, so that 2^14 sums can be added
// before it overflows.
struct FixedPoint {
  int64_t* high;
  int64_t* low;
};

// sums[i] (+)= values[i]; returns false if a value is not finite or too large, whose place gets nothing.
bool add_fixed(const float* values, int64_t count, bool accumulate, FixedPoint sums);

// The nearest f32 (of the f64 nearest to each of the two parts).
void to_float(FixedPoint sums, int64_t count, float* values);

// The sum of squares, exact in the same sense, in two integers that can be added over ranks. Squares are
// multiples of 2^-60 below 2^42. Returns false if one is not finite or too large.
bool add_squares(const float* values, int64_t count, int64_t& high, int64_t& low);
double square_sum(int64_t high, int64_t low);

}  // namespace shoal
