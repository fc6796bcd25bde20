#include "laws/prescription.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace shoal {
namespace {

bool speaks_of_shapes(const ParametricLaw& law) {
  return std::any_of(law.terms.begin(), law.terms.end(),
                     [](LawTerm t) { return t == LawTerm::width || t == LawTerm::depth; });
}

bool falls_with_everything(const ParametricLaw& law) {
  return std::all_of(law.exponents.begin(), law.exponents.end(), [](double e) { return e > 0; });
}

struct Search {
  const ParametricLaw& law;
  const ShapeCosts& shapes;
  double flops;
  double low_width, high_width;  // logs

  static double high_depth(double log_width) { return log_width + std::log(16.0); }
  double at(double log_width, double log_depth) const {
    return loss_at_budget(law, shapes, flops, std::exp(log_width), std::exp(log_depth));
  }
};

struct Spot {
  double log_width = 0, log_depth = 0, loss = std::numeric_limits<double>::infinity();
};

// A grid over the whole range, then steps around the best of it that halve where no neighbour is better.
Spot find_lowest(const Search& search) {
  constexpr int cells = 32;
  Spot best;
  for (int i = 0; i <= cells; ++i) {
    const double w = search.low_width + (search.high_width - search.low_width) * i / cells;
    for (int j = 0; j <= cells; ++j) {
      const double d = Search::high_depth(w) * j / cells;
      if (const double loss = search.at(w, d); loss < best.loss) best = {w, d, loss};
    }
  }
  double step_w = (search.high_width - search.low_width) / cells,
         step_d = Search::high_depth(best.log_width) / cells;
  while (step_w > 1e-5) {
    const Spot before = best;
    for (const auto& [dw, dd] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, -1}, {-1, 1}}) {
      const double w = std::clamp(before.log_width + dw * step_w, search.low_width, search.high_width);
      const double d = std::clamp(before.log_depth + dd * step_d, 0.0, Search::high_depth(w));
      if (const double loss = search.at(w, d); loss < best.loss) best = {w, d, loss};
    }
    if (best.loss < before.loss) continue;
    step_w /= 2;
    step_d /= 2;
  }
  return best;
}

// The best of the shapes around a spot that can be built: the nearest widths, each with its own best depth.
Spot rounded(const Search& search, const Spot& spot) {
  const double step = search.shapes.width_step();
  const double below = std::floor(std::exp(spot.log_width) / step) * step;
  Spot best;
  for (double width : {below - step, below, below + step, below + 2 * step}) {
    const double w = std::log(std::max(width, step));
    double d = spot.log_depth, loss = search.at(w, d);
    for (double move = 0.5; move > 1e-4;) {
      const double down = search.at(w, std::max(0.0, d - move)), up = search.at(w, d + move);
      if (std::min(down, up) < loss) {
        d = down < up ? std::max(0.0, d - move) : d + move;
        loss = std::min(down, up);
      } else {
        move /= 2;
      }
    }
    for (double depth : {std::floor(std::exp(d)), std::ceil(std::exp(d))}) {
      const double log_depth = std::log(std::max(depth, 1.0));
      if (const double there = search.at(w, log_depth); there < best.loss) best = {w, log_depth, there};
    }
  }
  return best;
}

}  // namespace

Allocation optimal_allocation(const ParametricLaw& law, double flops, const TokenCost& cost) {
  if (law.terms != std::vector{LawTerm::params, LawTerm::tokens}) {
    user_error("the closed form needs a law of params and tokens");
  }
  if (!falls_with_everything(law)) user_error("the law has no optimum: an exponent is not above zero");
  const double a = law.exponents[0], b = law.exponents[1], p = cost.power;
  // The derivative of A N^-a + B (C / (scale N^p))^-b is zero where N^(a + p b) is this.
  const double power =
      std::log(a / (p * b)) + law.coefficients[0] - law.coefficients[1] + b * std::log(flops / cost.scale);
  const double params = std::exp(power / (a + p * b));
  return {params, flops / (cost.scale * std::pow(params, p))};
}

double loss_at_budget(const ParametricLaw& law, const ShapeCosts& shapes, double flops, double width,
                      double depth) {
  LawPoint point;
  point.width = width;
  point.depth = depth;
  point.params = shapes.params(width, depth);
  point.tokens = flops / shapes.flops_per_token(width, depth);
  return law.loss(point);
}

std::optional<Prescription> prescribe(const ParametricLaw& law, double flops, const TokenCost& cost,
                                      const ShapeCosts* shapes, const ShapeRange& range) {
  if (!falls_with_everything(law)) return std::nullopt;
  if (!speaks_of_shapes(law)) {
    const Allocation best = optimal_allocation(law, flops, cost);
    LawPoint point;
    point.params = best.params;
    point.tokens = best.tokens;
    return Prescription{flops, best.params, best.tokens, 0, 0, law.loss(point), false};
  }
  if (shapes == nullptr || !(range.narrowest > 0)) return std::nullopt;
  const Search search{law, *shapes, flops, std::log(range.narrowest / 4), std::log(range.widest * 64)};
  const Spot best = find_lowest(search);
  if (!std::isfinite(best.loss)) return std::nullopt;
  const bool border = best.log_width <= search.low_width || best.log_width >= search.high_width ||
                      best.log_depth <= 0 || best.log_depth >= Search::high_depth(best.log_width);
  const Spot spot = rounded(search, best);
  const double width = std::exp(spot.log_width), depth = std::exp(spot.log_depth);
  return Prescription{flops,
                      shapes->params(width, depth),
                      flops / shapes->flops_per_token(width, depth),
                      std::round(width),
                      std::round(depth),
                      spot.loss,
                      border};
}

}  // namespace shoal
