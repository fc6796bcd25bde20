#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "train/fixed_point.h"

using namespace shoal;

namespace {

std::vector<float> values_of_all_sizes(size_t count) {
  std::mt19937 random(3);
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    const float mantissa = std::uniform_real_distribution<float>(-1, 1)(random);
    values.push_back(std::ldexp(mantissa, std::uniform_int_distribution<int>(-60, 10)(random)));
  }
  return values;
}

float fixed_sum(const std::vector<float>& values) {
  int64_t high = 0, low = 0;
  float sum = 0;
  for (const float& v : values) REQUIRE(add_fixed(&v, 1, &v != values.data(), {&high, &low}));
  to_float({&high, &low}, 1, &sum);
  return sum;
}

}  // namespace

TEST_CASE("fixed-point sums do not depend on the order, and are right to the last bit of f32") {
  std::vector<float> values = values_of_all_sizes(1000);
  long double exact = 0;
  for (const float v : values) exact += static_cast<long double>(v);
  const float sum = fixed_sum(values);
  CHECK(std::abs(double(sum) - double(exact)) <= std::ldexp(std::abs(double(exact)), -24));
  std::mt19937 random(4);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(values.begin(), values.end(), random);
    CHECK(fixed_sum(values) == sum);
  }
}

TEST_CASE("a single value comes back from fixed point as it was, negative ones and zero too") {
  for (const float v : {0.0f, 1.0f, -1.0f, 0x1.fffffep-40f, -0x1.000002p-33f, 0x1.abcdeep29f, -0x1p-80f}) {
    CHECK(fixed_sum({v}) == v);
  }
}

TEST_CASE("sums of squares do not depend on how values lie in parts") {
  const std::vector<float> values = values_of_all_sizes(3000);
  double expected = 0;
  for (const float v : values) expected += double(v) * double(v);
  double first = 0;
  for (const size_t part : {size_t{3000}, size_t{1}, size_t{7}, size_t{1000}}) {
    int64_t high = 0, low = 0;
    for (size_t at = 0; at < values.size(); at += part) {
      const auto count = int64_t(std::min(part, values.size() - at));
      REQUIRE(add_squares(values.data() + at, count, high, low));
    }
    const double sum = square_sum(high, low);
    if (part == 3000) first = sum;
    CHECK(sum == first);
    CHECK(std::abs(sum / expected - 1) < 1e-12);
  }
}

TEST_CASE("what is not finite or too large is told, and adds nothing") {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30f}) {
    int64_t high = 0, low = 0, square_high = 0, square_low = 0;
    CHECK_FALSE(add_fixed(&bad, 1, true, {&high, &low}));
    CHECK_FALSE(add_squares(&bad, 1, square_high, square_low));
    CHECK(high == 0);
    CHECK(low == 0);
    CHECK(square_high == 0);
  }
}
