// Approach 3 of Hoffmann et al. 2022 and its width/depth variants (McLeish et al. 2025): the law
//   L = sum_j exp(c_j) / x_j^e_j + exp(E),   x_j in {width, depth, params, tokens},
// fitted by the sum over points of Huber_delta(log L_i - logsumexp_j(c_j - e_j log x_ij, E)).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "laws/points.h"

namespace shoal {

enum class LawTerm { width, depth, params, tokens };
std::string name_of(LawTerm term);

struct ParametricLaw {
  std::vector<LawTerm> terms;
  std::vector<double> exponents;     // e_j
  std::vector<double> coefficients;  // c_j, natural logs
  double irreducible = 0;            // E, natural log
  double objective = 0;              // at these parameters, on the fitted points

  double loss(const LawPoint& point) const;
};

struct FitOptions {
  double delta = 1e-3;  // of the Huber function, on log loss
  // The grid of starts; every combination is one.
  std::vector<double> exponent_starts{0, 0.5, 1, 1.5, 2};
  std::vector<double> coefficient_starts{0, 5, 10, 15, 20, 25};
  std::vector<double> irreducible_starts{-1, -0.5, 0, 0.5, 1};
};

// The objective of a law on points. Weights count points more than once (bootstrap); empty: once each.
double law_objective(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                     const std::vector<double>& weights = {});

// The best minimum over all starts. Throws UserError for too few points, for a point that lacks a term's
// value, and for a term that takes one value only (its exponent cannot be told from its coefficient).
ParametricLaw fit_law(const std::vector<LawPoint>& points, const std::vector<LawTerm>& terms,
                      const FitOptions& options);

// A minimum close to a given law, for bootstraps and refinements.
ParametricLaw refine_law(const ParametricLaw& start, const std::vector<LawPoint>& points, double delta,
                         const std::vector<double>& weights = {});

struct LawBootstrap {
  std::vector<ParametricLaw> fits;
};

// Refits `count` resamples of the points with replacement, each from `law`;
// the n-th resample is a function of (seed, n).
LawBootstrap bootstrap_law(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                           int count, uint64_t seed);

// The compute-optimal split of C FLOPs (C = 6 N D) of a (params, tokens) law, in closed form.
struct Allocation {
  double params = 0, tokens = 0;
};
Allocation optimal_allocation(const ParametricLaw& law, double flops);

}  // namespace shoal
