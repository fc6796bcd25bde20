// Approach 3 of Hoffmann et al. 2022 and its width/depth variants (McLeish et al. 2025): the law
//   L = sum_j exp(c_j) / x_j^e_j + exp(E),   x_j in {width, depth, params, tokens},
// fitted by the sum over points of Huber_delta(log L_i - logsumexp_j(c_j - e_j log x_ij, E)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "laws/points.h"

namespace shoal {

enum class LawTerm { width, depth, params, tokens };
std::string name_of(LawTerm term);
double value_of(const LawPoint& point, LawTerm term);

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
  // The grid of starts; every combination is one, or an even choice of max_starts of them.
  std::vector<double> exponent_starts{0, 0.5, 1, 1.5, 2};
  std::vector<double> coefficient_starts{0, 5, 10, 15, 20, 25};
  std::vector<double> irreducible_starts{-1, -0.5, 0, 0.5, 1};
  size_t max_starts = 4500;  // the whole grid of two terms
};

// How the search went: of the starts that were followed to the end, how many came to the best objective
// within one part in a million.
struct FitSearch {
  size_t starts = 0, finished = 0, agreeing = 0;
};

// The objective of a law on points. Weights count points more than once (bootstrap); empty: once each.
double law_objective(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                     const std::vector<double>& weights = {});

// Why these points cannot tell the unknowns of a law apart, if they cannot: too few points; a point that
// lacks a term's value; a term with fewer than three different values, whose exponent, coefficient and the
// irreducible loss are then any of many; two terms of which one is a power of the other.
std::optional<Problem> why_unidentifiable(const std::vector<LawPoint>& points,
                                          const std::vector<LawTerm>& terms);

// What a fitted law says that should not be believed: terms without influence on any point's loss, and
// exponents that are not above zero.
std::vector<std::string> doubts_about(const ParametricLaw& law, const std::vector<LawPoint>& points);

// The best minimum over all starts. Throws UserError where why_unidentifiable has a reason.
ParametricLaw fit_law(const std::vector<LawPoint>& points, const std::vector<LawTerm>& terms,
                      const FitOptions& options, FitSearch* search = nullptr);

// A minimum close to a given law, for bootstraps and refinements.
ParametricLaw refine_law(const ParametricLaw& start, const std::vector<LawPoint>& points, double delta,
                         const std::vector<double>& weights = {});

struct LawBootstrap {
  std::vector<ParametricLaw> fits;
};

// Refits `count` resamples of the points with replacement, each from `law`; the n-th resample is a function
// of (seed, n).
LawBootstrap bootstrap_law(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                           int count, uint64_t seed, Resample unit = Resample::points);

}  // namespace shoal
