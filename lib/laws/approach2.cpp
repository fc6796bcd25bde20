#include "laws/approach2.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace shoal {
namespace {

constexpr double near_budget = 0.05;  // relative

// A shape's points by rising FLOPs, the lowest loss of those at equal FLOPs.
using Series = std::vector<LawPoint>;

std::vector<Series> series_of(const std::vector<LawPoint>& points) {
  std::vector<Series> all;
  for (const auto& members : by_shape(points)) {
    Series series;
    for (size_t i : members) series.push_back(points[i]);
    std::sort(series.begin(), series.end(), [](const LawPoint& a, const LawPoint& b) {
      return a.flops != b.flops ? a.flops < b.flops : a.loss < b.loss;
    });
    series.erase(std::unique(series.begin(), series.end(),
                             [](const LawPoint& a, const LawPoint& b) { return a.flops == b.flops; }),
                 series.end());
    all.push_back(std::move(series));
  }
  return all;
}

std::optional<IsoflopSample> at_budget(const Series& series, double flops) {
  const auto above = std::lower_bound(series.begin(), series.end(), flops,
                                      [](const LawPoint& p, double f) { return p.flops < f; });
  if (above != series.begin() && above != series.end()) {
    const LawPoint &a = *(above - 1), &b = *above;
    const double t = std::log(flops / a.flops) / std::log(b.flops / a.flops);
    return IsoflopSample{a.params, a.tokens * std::pow(b.tokens / a.tokens, t),
                         a.loss * std::pow(b.loss / a.loss, t)};
  }
  const LawPoint& end = above == series.end() ? series.back() : series.front();
  if (std::abs(std::log(end.flops / flops)) > near_budget) return std::nullopt;
  return IsoflopSample{end.params, end.tokens * flops / end.flops, end.loss};
}

// Least squares of a parabola in x about its mean; false with fewer than three different x.
bool fit_parabola(const std::vector<IsoflopSample>& samples, double curve[3]) {
  const double n = double(samples.size());
  double mean = 0;
  for (const auto& s : samples) mean += std::log(s.params) / n;
  double m[5] = {}, y[3] = {};
  for (const auto& s : samples) {
    const double x = std::log(s.params) - mean;
    double power = 1;
    for (int k = 0; k < 5; ++k, power *= x) {
      m[k] += power;
      if (k < 3) y[k] += power * s.loss;
    }
  }
  const double det = m[0] * (m[2] * m[4] - m[3] * m[3]) - m[1] * (m[1] * m[4] - m[2] * m[3]) +
                     m[2] * (m[1] * m[3] - m[2] * m[2]);
  if (!(det > 1e-12 * m[0] * m[2] * m[4])) return false;
  const double c0 = (y[0] * (m[2] * m[4] - m[3] * m[3]) - m[1] * (y[1] * m[4] - m[3] * y[2]) +
                     m[2] * (y[1] * m[3] - m[2] * y[2])) /
                    det;
  const double c1 = (m[0] * (y[1] * m[4] - m[3] * y[2]) - y[0] * (m[1] * m[4] - m[2] * m[3]) +
                     m[2] * (m[1] * y[2] - y[1] * m[2])) /
                    det;
  const double c2 = (m[0] * (m[2] * y[2] - y[1] * m[3]) - m[1] * (m[1] * y[2] - y[1] * m[2]) +
                     y[0] * (m[1] * m[3] - m[2] * m[2])) /
                    det;
  curve[0] = c0 - c1 * mean + c2 * mean * mean;
  curve[1] = c1 - 2 * c2 * mean;
  curve[2] = c2;
  return true;
}

// Tokens of the budget at a size between the samples: a straight line in logs.
double tokens_at(const std::vector<IsoflopSample>& samples, double params) {
  const auto above = std::lower_bound(samples.begin(), samples.end(), params,
                                      [](const IsoflopSample& s, double p) { return s.params < p; });
  if (above == samples.begin()) return above->tokens;
  if (above == samples.end()) return samples.back().tokens;
  const IsoflopSample &a = *(above - 1), &b = *above;
  if (a.params == b.params) return a.tokens;
  return a.tokens *
         std::pow(b.tokens / a.tokens, std::log(params / a.params) / std::log(b.params / a.params));
}

void find_minimum(IsoflopProfile& profile) {
  if (profile.samples.size() < 3 || !fit_parabola(profile.samples, profile.curve)) {
    profile.why_not = "fewer than three sizes";
    return;
  }
  if (!(profile.curve[2] > 0)) {
    profile.why_not = "the parabola opens downwards";
    return;
  }
  const double best = std::exp(-profile.curve[1] / (2 * profile.curve[2]));
  if (best < profile.samples.front().params || best > profile.samples.back().params) {
    profile.why_not = "its lowest point lies outside the sizes";
    return;
  }
  profile.has_minimum = true;
  profile.params = best;
  profile.loss = profile.loss_at(best);
  profile.tokens = tokens_at(profile.samples, best);
}

}  // namespace

double IsoflopProfile::loss_at(double at_params) const {
  const double x = std::log(at_params);
  return curve[0] + x * (curve[1] + x * curve[2]);
}

std::vector<IsoflopProfile> isoflop_profiles(const std::vector<LawPoint>& points,
                                             const std::vector<double>& budgets) {
  const auto all = series_of(points);
  std::vector<IsoflopProfile> profiles;
  for (double flops : budgets) {
    IsoflopProfile profile;
    profile.flops = flops;
    for (const Series& series : all) {
      if (const auto sample = at_budget(series, flops)) profile.samples.push_back(*sample);
    }
    find_minimum(profile);
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::vector<double> isoflop_budgets(const std::vector<LawPoint>& points, int count) {
  std::vector<double> flops;
  for (const LawPoint& p : points) flops.push_back(std::log(p.flops));
  std::sort(flops.begin(), flops.end());
  // Points of one budget lie within 5 % of each other, and nothing else lies near.
  std::vector<double> clusters;
  size_t in_clusters = 0;
  for (size_t first = 0, end = 0; first < flops.size(); first = end) {
    double sum = 0;
    for (end = first; end < flops.size() && flops[end] - flops[first] <= near_budget; ++end)
      sum += flops[end];
    if (end - first < 3) continue;
    clusters.push_back(std::exp(sum / double(end - first)));
    in_clusters += end - first;
  }
  if (clusters.size() >= 2 && in_clusters * 5 >= flops.size() * 4 && clusters.size() * 3 <= flops.size() &&
      clusters.size() <= 30) {
    return clusters;
  }
  std::vector<double> first, last;
  for (const Series& series : series_of(points)) {
    first.push_back(series.front().flops);
    last.push_back(series.back().flops);
  }
  if (first.size() < 3) return {};
  std::sort(first.begin(), first.end());
  std::sort(last.rbegin(), last.rend());
  const double low = std::log(first[2]), high = std::log(last[2]);
  if (!(high > low)) return {};
  std::vector<double> budgets;
  for (int i = 0; i < count; ++i) budgets.push_back(std::exp(low + (high - low) * (i + 0.5) / count));
  return budgets;
}

IsoflopLines isoflop_lines(const std::vector<IsoflopProfile>& profiles) {
  std::vector<double> flops, params, tokens;
  for (const auto& profile : profiles) {
    if (!profile.has_minimum) continue;
    flops.push_back(profile.flops);
    params.push_back(profile.params);
    tokens.push_back(profile.tokens);
  }
  if (flops.size() < 2) {
    user_error("approach 2 needs a minimum at two budgets at least; {} of {} have one", flops.size(),
               profiles.size());
  }
  return {fit_log_line(flops, params), fit_log_line(flops, tokens)};
}

}  // namespace shoal
