// Everything `shoal fit` finds out about a table of points: the three approaches with their intervals, how
// far they can be trusted, and what each advises for a list of budgets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "laws/approach2.h"
#include "laws/flops.h"
#include "laws/leave_out.h"
#include "laws/parametric.h"
#include "laws/prescription.h"

namespace shoal {

using LawForm = std::vector<LawTerm>;

struct StudyOptions {
  FlopsCount flops;
  std::vector<LawForm> forms;   // of approach 3; empty: those of the three that the points can tell
  double delta = 1e-3;          // of the Huber function
  size_t max_starts = 4500;     // of each form
  int bins = 750;               // of approach 1's comparison
  std::vector<double> isoflop;  // budgets of approach 2; empty: chosen from the points
  std::vector<double> budgets;  // FLOPs to prescribe for; empty: powers of ten around the points
  int bootstraps = 1000;        // 0: no intervals
  Resample resample = Resample::points;
  uint64_t seed = 1;
};

// The middle 95 % of the bootstrap's values and their standard deviation.
struct Spread {
  double low = 0, high = 0, deviation = 0;
  size_t count = 0;  // of the resamples that gave a value
};

// A way to choose params and tokens for a budget, log y = slope * log C + intercept.
struct ScalingLines {
  std::string name;   // "hull", "binned minima", "isoFLOP minima"
  size_t points = 0;  // that the lines go through
  LogLine params, tokens;
  Spread params_slope, tokens_slope;
};

struct FormStudy {
  ParametricLaw law;
  FitSearch search;
  std::vector<ParametricLaw> resampled;
  std::vector<Spread> exponents, coefficients;  // coefficients not as logs
  Spread irreducible;                           // not as a log
  // Of N*(C) ~ C^a, for a law of params and tokens: a = e_tokens / (p e_tokens + e_params), FLOPs a token ~
  // N^p.
  std::optional<double> params_slope;
  Spread params_slope_spread;
  std::vector<LeaveOut> without_shape;
  LeaveOut without_largest;
  std::vector<std::string> doubts;
};

struct Advice {
  std::string approach;  // "1, hull", "3, params + tokens"
  Prescription at;
  Spread params, tokens;
  bool beyond_data = false;  // the budget is above the largest of the points
};

struct Study {
  std::vector<LawPoint> points;  // with FLOPs
  size_t shapes = 0;
  double delta = 0;
  std::vector<size_t> hull, minima;  // indices of points
  std::vector<ScalingLines> lines;   // approaches 1 and 2
  std::vector<IsoflopProfile> profiles;
  TokenCost cost;
  std::optional<ShapeCosts> shape_costs;
  ShapeRange shape_range;
  std::vector<FormStudy> forms;
  std::vector<Advice> advice;  // by budget, then by approach
  std::vector<std::string> warnings;
};

// Throws UserError where the points cannot be used at all, or cannot tell a form that was asked for; an
// approach that does not apply to them is left out with a warning.
Study study_laws(std::vector<LawPoint> points, const StudyOptions& options);

std::string name_of(const LawForm& form);  // "params + tokens"

}  // namespace shoal
