#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "layers/init.h"

using namespace shoal;

namespace {

std::vector<float> draws(int64_t first, int64_t count, double std, double truncate) {
  std::vector<float> out(static_cast<size_t>(count));
  fill_normal(Philox(7, "weights"), first, count, std, truncate, out.data());
  return out;
}

}  // namespace

TEST_CASE("a normal draw belongs to its element, however the elements are cut") {
  for (double truncate : {0.0, 1.5}) {
    const auto all = draws(0, 3000, 0.5, truncate);
    for (int64_t first : {0, 1, 3, 255, 256, 257, 1000, 2999}) {
      const auto part = draws(first, 3000 - first, 0.5, truncate);
      CHECK(std::equal(part.begin(), part.end(), all.begin() + first));
    }
  }
}

TEST_CASE("normal draws have the moments of a normal distribution and no correlation of neighbours") {
  constexpr int64_t n = 1 << 20;
  const auto z = draws(0, n, 1, 0);
  double mean = 0, square = 0, cube = 0, fourth = 0, neighbour = 0, within_one = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    const double x = z[i];
    mean += x / n, square += x * x / n, cube += x * x * x / n, fourth += x * x * x * x / n;
    neighbour += i > 0 ? x * z[i - 1] / n : 0;
    within_one += std::abs(x) < 1 ? 1.0 / n : 0;
  }
  // Five standard errors each.
  CHECK(std::abs(mean) < 0.005);
  CHECK(std::abs(square - 1) < 0.007);
  CHECK(std::abs(cube) < 0.02);
  CHECK(std::abs(fourth - 3) < 0.05);
  CHECK(std::abs(neighbour) < 0.005);
  CHECK(std::abs(within_one - 0.682689) < 0.0025);
}

TEST_CASE("truncated draws stay within the bound and are otherwise the same") {
  const auto plain = draws(0, 100000, 1, 0), cut = draws(0, 100000, 1, 2);
  int64_t replaced = 0;
  for (size_t i = 0; i < cut.size(); ++i) {
    CHECK_UNARY(std::abs(cut[i]) <= 2);
    if (std::abs(plain[i]) <= 2) {
      CHECK_UNARY(cut[i] == plain[i]);
    } else {
      ++replaced;
    }
  }
  CHECK(replaced == doctest::Approx(4550).epsilon(0.1));
}

// The same bits on every machine: these were computed once, in float64 by the stated rule.
TEST_CASE("the draws are Box-Muller on the words of the block") {
  const auto z = draws(0, 4, 1, 0);
  const auto words = Philox(7, "weights").block(0);
  for (size_t pair = 0; pair < 2; ++pair) {
    const double radius = std::sqrt(-2 * std::log((words[2 * pair] + 0.5) * 0x1p-32));
    const double angle = 2 * M_PI *
                         ((words[2 * pair + 1] >> 30) * 0.25 +
                          ((words[2 * pair + 1] & 0x3fffffff) - 0x20000000 + 0.5) * 0x1p-32);
    CHECK(z[2 * pair] == doctest::Approx(radius * std::cos(angle)).epsilon(1e-6));
    CHECK(z[2 * pair + 1] == doctest::Approx(radius * std::sin(angle)).epsilon(1e-6));
  }
}
