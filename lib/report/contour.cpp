#include <cmath>
#include <limits>

#include "report/xy_plot.h"

namespace shoal::report {

using Spot = std::pair<double, double>;

std::vector<Spot> contour(const std::vector<double>& xs, const std::vector<double>& ys,
                          const std::vector<double>& values, double level) {
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  std::vector<Spot> line;
  for (size_t j = 0; j + 1 < ys.size(); ++j) {
    for (size_t i = 0; i + 1 < xs.size(); ++i) {
      // The corners in turn around the cell, and where its edges cross the level.
      const Spot corner[4] = {{xs[i], ys[j]}, {xs[i + 1], ys[j]}, {xs[i + 1], ys[j + 1]}, {xs[i], ys[j + 1]}};
      const double value[4] = {values[j * xs.size() + i], values[j * xs.size() + i + 1],
                               values[(j + 1) * xs.size() + i + 1], values[(j + 1) * xs.size() + i]};
      std::vector<Spot> crossings;
      bool finite = true;
      for (int k = 0; k < 4; ++k) {
        const int next = (k + 1) % 4;
        finite = finite && std::isfinite(value[k]);
        if ((value[k] < level) == (value[next] < level)) continue;
        const double t = (level - value[k]) / (value[next] - value[k]);
        crossings.emplace_back(corner[k].first + t * (corner[next].first - corner[k].first),
                               corner[k].second + t * (corner[next].second - corner[k].second));
      }
      if (!finite) continue;
      for (size_t k = 0; k + 1 < crossings.size(); k += 2) {
        line.insert(line.end(), {crossings[k], crossings[k + 1], {gap, gap}});
      }
    }
  }
  return line;
}

}  // namespace shoal::report
