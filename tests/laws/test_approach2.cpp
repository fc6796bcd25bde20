#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "laws/approach2.h"
#include "laws/parametric.h"
#include "laws/prescription.h"
#include "published.h"

using namespace shoal;

namespace {

const ParametricLaw truth{{LawTerm::params, LawTerm::tokens}, {0.34, 0.28}, {6.0, 6.1}, 0.5, 0};

LawPoint point(double params, double tokens) {
  LawPoint p;
  p.params = params;
  p.tokens = tokens;
  p.flops = 6 * params * tokens;
  p.loss = truth.loss(p);
  return p;
}

}  // namespace

TEST_CASE("isoFLOP minima of points made by a law are the law's optima") {
  const std::vector<double> budgets{1e18, 1e19, 1e20, 1e21};
  std::vector<LawPoint> points;
  for (double flops : budgets) {
    const double best = optimal_allocation(truth, flops).params;
    for (double factor : {0.5, 0.71, 1.0, 1.41, 2.0})
      points.push_back(point(best * factor, flops / (6 * best * factor)));
  }
  const auto found = isoflop_budgets(points);
  REQUIRE(found.size() == budgets.size());
  for (size_t i = 0; i < budgets.size(); ++i) CHECK(found[i] == doctest::Approx(budgets[i]));
  const auto profiles = isoflop_profiles(points, found);
  for (const auto& profile : profiles) {
    const Allocation best = optimal_allocation(truth, profile.flops);
    REQUIRE(profile.has_minimum);
    CHECK(profile.samples.size() == 5);
    CHECK(profile.params == doctest::Approx(best.params).epsilon(0.03));
    CHECK(profile.tokens == doctest::Approx(best.tokens).epsilon(0.03));
    CHECK(profile.loss == doctest::Approx(truth.loss(point(best.params, best.tokens))).epsilon(1e-3));
  }
  const IsoflopLines lines = isoflop_lines(profiles);
  CHECK(lines.params.slope == doctest::Approx(0.28 / 0.62).epsilon(0.005));
  CHECK(lines.tokens.slope == doctest::Approx(0.34 / 0.62).epsilon(0.005));
}

TEST_CASE("checkpoints of a run serve every budget that the run has passed") {
  std::vector<LawPoint> points;
  for (double params = 1e7; params < 3e9; params *= 1.5) {
    for (double tokens = 1e9; tokens < 1e12; tokens *= 1.3) points.push_back(point(params, tokens));
  }
  const auto budgets = isoflop_budgets(points, 6);
  CHECK(budgets.size() == 6);
  for (const auto& profile : isoflop_profiles(points, {3e19})) {
    for (const auto& sample : profile.samples) {
      const LawPoint exact = point(sample.params, profile.flops / (6 * sample.params));
      CHECK(sample.tokens == doctest::Approx(exact.tokens));
      CHECK(sample.loss == doctest::Approx(exact.loss).epsilon(1e-3));
    }
  }
}

TEST_CASE("the slope of approach 2 on the Chinchilla points is within the published interval") {
  // Hoffmann et al. 2022, table 2, approach 2: a = 0.49 (0.462, 0.534), b = 0.51 (0.483, 0.529).
  auto points = chinchilla();
  const IsoflopLines lines = isoflop_lines(isoflop_profiles(points, isoflop_budgets(points)));
  CHECK(lines.params.slope > 0.462);
  CHECK(lines.params.slope < 0.534);
  CHECK(lines.params.slope + lines.tokens.slope == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("a profile without a minimum says why") {
  auto at_sizes = [](std::vector<double> losses) {
    std::vector<LawPoint> points;
    double params = 1e7;
    for (double loss : losses) {
      points.push_back(point(params, 1e18 / (6 * params)));
      points.back().loss = loss;
      params *= 2;
    }
    return isoflop_profiles(points, {1e18}).front();
  };
  CHECK(at_sizes({3, 2.8, 2.9, 3.3}).has_minimum);
  CHECK(at_sizes({3, 2.8}).why_not == "fewer than three sizes");
  CHECK(at_sizes({3, 3.2, 3}).why_not == "the parabola opens downwards");
  CHECK(at_sizes({3.5, 3.2, 3.0, 2.85}).why_not == "its lowest point lies outside the sizes");
  CHECK_THROWS_WITH_AS(isoflop_lines({at_sizes({3, 2.8, 2.9, 3.3})}), doctest::Contains("1 of 1"), UserError);
}
