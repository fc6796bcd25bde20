#include "laws/approach1.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace shoal {
namespace {

struct Corner {
  double x, y;
  size_t index;
};

double cross(const Corner& o, const Corner& a, const Corner& b) {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

void check_flops(const std::vector<LawPoint>& points) {
  if (points.empty()) user_error("there is no point to fit");
  for (const LawPoint& p : points) {
    if (!(p.flops > 0)) user_error("run {} has no FLOPs; approach 1 needs them", p.run.empty() ? "?" : p.run);
  }
}

}  // namespace

std::vector<size_t> law_hull(const std::vector<LawPoint>& points) {
  check_flops(points);
  double most_flops = 0, most_loss = 0;
  std::vector<Corner> corners;
  for (size_t i = 0; i < points.size(); ++i) {
    corners.push_back({std::log(points[i].flops), std::log(points[i].loss), i});
    most_flops = std::max(most_flops, points[i].flops);
    most_loss = std::max(most_loss, points[i].loss);
  }
  corners.push_back({std::log(2 * most_flops), std::log(2 * most_loss), points.size()});
  std::sort(corners.begin(), corners.end(),
            [](const Corner& a, const Corner& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  // The lower chain (Andrew). The upper chain can hold only points of
  // rising loss, which the last filter drops.
  std::vector<Corner> chain;
  for (const Corner& c : corners) {
    while (chain.size() >= 2 && cross(chain[chain.size() - 2], chain.back(), c) <= 0) chain.pop_back();
    chain.push_back(c);
  }
  std::vector<size_t> hull;
  for (const Corner& c : chain) {
    if (c.index == points.size()) continue;
    if (hull.empty() || points[c.index].loss < points[hull.back()].loss) hull.push_back(c.index);
  }
  return hull;
}

std::vector<size_t> law_binned_minima(const std::vector<LawPoint>& points, int bins) {
  check_flops(points);
  const auto [low, high] = std::minmax_element(
      points.begin(), points.end(), [](const auto& a, const auto& b) { return a.flops < b.flops; });
  const double first = std::log(low->flops), width = (std::log(high->flops) - first) / bins;
  std::vector<size_t> best(static_cast<size_t>(bins), points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    const double at = width > 0 ? (std::log(points[i].flops) - first) / width : 0;
    size_t& slot = best[static_cast<size_t>(std::clamp(int(at), 0, bins - 1))];
    if (slot == points.size() || points[i].loss < points[slot].loss) slot = i;
  }
  std::erase(best, points.size());
  return best;
}

LogLine fit_log_line(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = double(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    xx += dx * dx;
    xy += dx * (std::log(y[i]) - mean_y);
  }
  if (x.size() < 2 || !(xx > 0)) user_error("a line needs points at two different budgets at least");
  const double slope = xy / xx;
  return {slope, mean_y - slope * mean_x};
}

}  // namespace shoal
