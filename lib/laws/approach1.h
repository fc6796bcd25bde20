// Approach 1 of Hoffmann et al. 2022 as the Gemstones paper does it: which points are the best at their
// FLOPs, and a straight line through them in log-log space.
#pragma once

#include <vector>

#include "laws/points.h"

namespace shoal {

// Indices of the points on the lower convex hull of (log FLOPs, log loss), by rising FLOPs and falling loss.
// One vantage point at twice the largest FLOPs and loss closes the hull from above and is left out again.
std::vector<size_t> law_hull(const std::vector<LawPoint>& points);

// Indices of the lowest loss in each of `bins` equal bins of log FLOPs that holds a point.
std::vector<size_t> law_binned_minima(const std::vector<LawPoint>& points, int bins = 750);

struct LogLine {  // log y = slope * log x + intercept
  double slope = 0, intercept = 0;
};

// Ordinary least squares in natural logs. Throws UserError with fewer than two distinct x.
LogLine fit_log_line(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace shoal
