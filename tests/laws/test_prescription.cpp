// What laws advise, beside the values that their papers print.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "laws/approach1.h"
#include "laws/prescription.h"
#include "published.h"

using namespace shoal;

namespace {

ParametricLaw published(const std::string& set, const std::string& law = "params_tokens") {
  for (const auto& fit : published_fits()) {
    if (fit.set == set && fit.law == law && !fit.no_embeds && fit.delta == 1e-4) return fit.fit;
  }
  throw std::runtime_error("no such fit");
}

// The law of a Chinchilla paper: A, B, E and the exponents as printed.
ParametricLaw chinchilla_law(double a, double b, double e, double alpha, double beta) {
  return {{LawTerm::params, LawTerm::tokens}, {alpha, beta}, {std::log(a), std::log(b)}, std::log(e), 0};
}

double ratio(const ParametricLaw& law, double flops) {
  const Allocation best = optimal_allocation(law, flops);
  return best.tokens / best.params;
}

std::vector<LawPoint> counted(const std::string& set) {
  auto points = gemstones(set);
  count_flops(points, {FlopsRule::gemstones});
  return points;
}

}  // namespace

TEST_CASE("tokens per parameter are the published ones") {
  const double flops[] = {1e18, 1e20, 1e21, 1e22};
  const auto epoch = chinchilla_law(482.00572, 2085.43420, 1.81686, 0.34781, 0.36585);
  const auto hoffmann = chinchilla_law(406.4, 410.7, 1.69, 0.34, 0.28);
  const auto gemstones_law = published("hot_100b+");
  const double by_epoch[] = {25.6, 22.8, 21.5, 20.3}, by_hoffmann[] = {25.7, 40.1, 50.1, 62.6},
               by_gemstones[] = {123, 20.2, 8.2, 3.3};
  for (size_t i = 0; i < 4; ++i) {
    CHECK(ratio(epoch, flops[i]) == doctest::Approx(by_epoch[i]).epsilon(0.005));
    CHECK(ratio(hoffmann, flops[i]) == doctest::Approx(by_hoffmann[i]).epsilon(0.005));
    CHECK(ratio(gemstones_law, flops[i]) == doctest::Approx(by_gemstones[i]).epsilon(0.01));
  }
  struct Line {
    const char* label;
    double ratios[4];
  };
  const Line lines[] = {{"_100b+", {43.5, 59.2, 69.1, 80.7}},
                        {"", {53.5, 49.1, 47.1, 45.1}},
                        {"_cooldown", {178, 69.7, 43.6, 27.3}}};
  for (const Line& line : lines) {
    double slope = 0, intercept = 0;
    for (const auto& published_line : published_lines()) {
      if (published_line.label != std::string("tokens_per_param") + line.label) continue;
      slope = published_line.slope;
      intercept = published_line.intercept;
    }
    REQUIRE(intercept != 0);
    for (size_t i = 0; i < 4; ++i) {
      CHECK(std::exp(slope * std::log(flops[i]) + intercept) ==
            doctest::Approx(line.ratios[i]).epsilon(0.005));
    }
  }
}

TEST_CASE("slopes of the optimal size are the published ones") {
  struct Row {
    const char* set;
    double slope;
  };
  const Row rows[] = {{"hot_100b+", 0.6965},
                      {"hot", 0.6986},
                      {"hot_120b+_only", 0.7515},
                      {"lr_ablation_hot", 0.6740},
                      {"cool_end", 0.6992},
                      {"hot_100b+_512x", 0.2805},
                      {"hot_sampled_like_chinchilla", 0.6123},
                      {"slim_chinchilla", 0.6315}};
  for (const Row& row : rows) {
    CAPTURE(row.set);
    const ParametricLaw law = published(row.set);
    const double at_1 = optimal_allocation(law, 1e20).params, at_10 = optimal_allocation(law, 1e21).params;
    CHECK(std::log10(at_10 / at_1) == doctest::Approx(row.slope).epsilon(1e-4));
  }
}

TEST_CASE("the closed form is the optimum for any cost of a token") {
  const ParametricLaw law = chinchilla_law(482, 2085, 1.817, 0.348, 0.366);
  for (const TokenCost cost : {TokenCost{6, 1}, TokenCost{40, 0.9}, TokenCost{1.5, 1.1}}) {
    const double budget = 1e21;
    const Allocation best = optimal_allocation(law, budget, cost);
    CHECK(cost.scale * std::pow(best.params, cost.power) * best.tokens == doctest::Approx(budget));
    auto loss_at = [&](double n) {
      LawPoint p;
      p.params = n;
      p.tokens = budget / (cost.scale * std::pow(n, cost.power));
      return law.loss(p);
    };
    CHECK(loss_at(best.params) < loss_at(best.params * 1.01));
    CHECK(loss_at(best.params) < loss_at(best.params / 1.01));
  }
  ParametricLaw rising = law;
  rising.exponents[1] = -0.1;
  CHECK_THROWS_AS(optimal_allocation(rising, 1e20), UserError);
  CHECK(!prescribe(rising, 1e20, {}, nullptr, {}));
}

TEST_CASE("the cost of a token is learnt from the points, and is exactly 6 N where it is") {
  auto points = gemstones("hot");
  count_flops(points, {FlopsRule::six_n});
  CHECK(token_cost(points).scale == 6);
  CHECK(token_cost(points).power == 1);
  for (auto& p : points) p.flops = 11 * std::pow(p.params, 0.97) * p.tokens;
  CHECK(token_cost(points).scale == doctest::Approx(11));
  CHECK(token_cost(points).power == doctest::Approx(0.97));
}

TEST_CASE("parameters and FLOPs of the Gemstones shapes are found again from the shapes") {
  const auto costs = ShapeCosts::of(counted("hot_100b+"));
  REQUIRE(costs);
  CHECK(costs->width_step() == 128);
  CHECK(costs->worst_error() < 0.02);
  for (const auto& [w, d] : {std::pair{1024.0, 28.0}, {3072.0, 12.0}, {256.0, 80.0}}) {
    CHECK(costs->params(w, d) == doctest::Approx(gemstones_params(w, d)).epsilon(0.01));
    CHECK(costs->flops_per_token(w, d) == doctest::Approx(flops_per_token_gemstones(w, d)).epsilon(0.01));
  }
}

TEST_CASE("costs that are polynomials are found exactly, and one width tells nothing of widths") {
  std::vector<LawPoint> points;
  for (double w : {64.0, 96.0, 160.0}) {
    for (double d : {2.0, 5.0, 9.0}) {
      LawPoint p;
      p.width = w;
      p.depth = d;
      p.params = 12 * d * w * w + 4096 * w;
      p.tokens = 1e8;
      p.flops = p.tokens * (72 * d * w * w + 12 * 256 * d * w + 6 * 4096 * w);
      points.push_back(p);
    }
  }
  const auto costs = ShapeCosts::of(points);
  REQUIRE(costs);
  CHECK(costs->worst_error() < 1e-9);
  CHECK(costs->width_step() == 32);
  CHECK(costs->params(1000, 20) == doctest::Approx(12 * 20e6 + 4096e3));
  CHECK(costs->flops_per_token(1000, 20) == doctest::Approx(72 * 20e6 + 12 * 256 * 20e3 + 6 * 4096e3));
  std::erase_if(points, [](const LawPoint& p) { return p.width != 64; });
  CHECK(!ShapeCosts::of(points));
}

TEST_CASE("the search over shapes finds what trying every shape finds") {
  const auto costs = ShapeCosts::of(counted("hot_100b+"));
  REQUIRE(costs);
  for (const char* form : {"width_depth_params_tokens", "width_depth_tokens"}) {
    ParametricLaw law;
    for (const auto& fit : published_fits()) {
      if (fit.set == "hot_100b+" && !fit.no_embeds && fit.delta == 1e-4 &&
          fit.fit.terms.size() == (std::string(form) == "width_depth_tokens" ? 3u : 4u)) {
        law = fit.fit;
      }
    }
    REQUIRE(law.terms.size() >= 3);
    for (double flops : {1e19, 1e21}) {
      const auto found = prescribe(law, flops, {}, &*costs, {256, 3072});
      REQUIRE(found);
      CHECK(!found->at_border);
      double best = 1e9;
      for (double w = 128; w <= 8192; w += 128) {
        for (double d = 1; d <= 400; ++d) best = std::min(best, loss_at_budget(law, *costs, flops, w, d));
      }
      CHECK(found->loss <= best * (1 + 1e-6));
      CHECK(found->tokens * costs->flops_per_token(found->width, found->depth) == doctest::Approx(flops));
      CHECK(std::fmod(found->width, 128) == 0);
    }
  }
}
