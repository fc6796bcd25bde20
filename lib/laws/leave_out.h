// How far a fit depends on single shapes, and how well it predicts what it has not seen.
#pragma once

#include <string>
#include <vector>

#include "laws/parametric.h"

namespace shoal {

struct LeaveOut {
  std::string what;      // "512x12", "98.7M", "the fifth of the points with the most FLOPs"
  size_t left_out = 0;   // points
  ParametricLaw law;     // refitted to the rest
  double error = 0;      // mean over the points left out of |log loss - log predicted|
  double own_error = 0;  // the same of the law fitted to all points, for comparison
  std::string why_not;   // if the rest cannot be fitted; then there is no law
};

// One refit a shape, starting from the law.
std::vector<LeaveOut> leave_out_shapes(const ParametricLaw& law, const std::vector<LawPoint>& points,
                                       double delta);

// Without the share of the points that used the most FLOPs (tokens, where FLOPs are not known).
LeaveOut leave_out_largest(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                           double share = 0.2);

}  // namespace shoal
