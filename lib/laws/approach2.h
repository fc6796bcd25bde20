// Approach 2 of Hoffmann et al. 2022 (arXiv 2203.15556): at each of several budgets a parabola of loss over
// log params through the models trained with it; its lowest point is the best size for the budget.
#pragma once

#include <string>
#include <vector>

#include "laws/approach1.h"
#include "laws/points.h"

namespace shoal {

// One model size at one budget.
struct IsoflopSample {
  double params = 0, tokens = 0, loss = 0;
};

struct IsoflopProfile {
  double flops = 0;
  std::vector<IsoflopSample> samples;  // by rising params
  double curve[3] = {};                // loss = c0 + c1 x + c2 x^2, x = log(params)
  // The lowest point, where the parabola opens upwards and has it within the sizes it was fitted to.
  bool has_minimum = false;
  double params = 0, tokens = 0, loss = 0;
  std::string why_not;  // otherwise

  double loss_at(double at_params) const;
};

// Profiles at the given budgets. A shape's loss at a budget lies on the straight line in logs between its two
// nearest points around it, so that checkpoints of one run serve every budget that the run has passed; where
// a shape has several points at one budget the lowest counts. A shape whose points all miss the budget by
// more than 5 % is not in the profile. Three sizes are the least for a parabola.
std::vector<IsoflopProfile> isoflop_profiles(const std::vector<LawPoint>& points,
                                             const std::vector<double>& budgets);

// Budgets that suit the points: the clusters that their FLOPs form, if they are few, else `count` of them
// evenly spaced in log FLOPs over the stretch that at least three sizes reach.
std::vector<double> isoflop_budgets(const std::vector<LawPoint>& points, int count = 10);

// Lines of the minima's params and tokens over FLOPs. Throws UserError with fewer than two minima.
struct IsoflopLines {
  LogLine params, tokens;
};
IsoflopLines isoflop_lines(const std::vector<IsoflopProfile>& profiles);

}  // namespace shoal
