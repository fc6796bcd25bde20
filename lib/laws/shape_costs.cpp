#include "laws/shape_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "laws/approach1.h"

namespace shoal {
namespace {

struct Sample {
  double width, depth, value;
  std::array<double, 3> terms() const {  // relative to the value, so that 1 is the aim
    return {depth * width * width / value, depth * width / value, width / value};
  }
};

// Solves the normal equations for the terms of `mask` alone; false where they are dependent.
bool solve(const std::vector<Sample>& samples, unsigned mask, std::array<double, 3>& solution) {
  std::vector<size_t> used;
  for (size_t k = 0; k < 3; ++k) {
    if (mask & (1u << k)) used.push_back(k);
  }
  const size_t n = used.size();
  std::array<double, 3> norm{};
  for (const Sample& s : samples) {
    for (size_t k : used) norm[k] += s.terms()[k] * s.terms()[k];
  }
  double a[3][4] = {};
  for (const Sample& s : samples) {
    const auto t = s.terms();
    for (size_t i = 0; i < n; ++i) {
      const double ti = t[used[i]] / std::sqrt(norm[used[i]]);
      for (size_t j = 0; j < n; ++j) a[i][j] += ti * t[used[j]] / std::sqrt(norm[used[j]]);
      a[i][3] += ti;
    }
  }
  for (size_t i = 0; i < n; ++i) {  // the matrix is positive definite with a diagonal of ones
    if (a[i][i] < 1e-9) return false;
    for (size_t r = i + 1; r < n; ++r) {
      const double factor = a[r][i] / a[i][i];
      for (size_t c = i; c < n; ++c) a[r][c] -= factor * a[i][c];
      a[r][3] -= factor * a[i][3];
    }
  }
  solution = {};
  for (size_t i = n; i-- > 0;) {
    double rest = a[i][3];
    for (size_t c = i + 1; c < n; ++c) rest -= a[i][c] * solution[used[c]] * std::sqrt(norm[used[c]]);
    solution[used[i]] = rest / a[i][i] / std::sqrt(norm[used[i]]);
  }
  return true;
}

// The best subset of terms with coefficients of at least 0: with three terms all eight are tried.
ShapePolynomial fit(const std::vector<Sample>& samples) {
  ShapePolynomial best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned mask = 1; mask < 8; ++mask) {
    std::array<double, 3> solution{};
    if (!solve(samples, mask, solution)) continue;
    if (*std::min_element(solution.begin(), solution.end()) < 0) continue;
    double error = 0, worst = 0;
    for (const Sample& s : samples) {
      const auto t = s.terms();
      const double off = solution[0] * t[0] + solution[1] * t[1] + solution[2] * t[2] - 1;
      error += off * off;
      worst = std::max(worst, std::abs(off));
    }
    if (error < least) {
      least = error;
      best = {solution, worst};
    }
  }
  return best;
}

}  // namespace

std::optional<ShapeCosts> ShapeCosts::of(const std::vector<LawPoint>& points) {
  std::vector<Sample> params, flops;
  int64_t step = 0;
  bool widths_differ = false, depths_differ = false;
  for (const auto& members : by_shape(points)) {
    const LawPoint& p = points[members.front()];
    if (!(p.width > 0 && p.depth > 0 && p.flops > 0)) return std::nullopt;
    params.push_back({p.width, p.depth, p.params});
    flops.push_back({p.width, p.depth, p.flops / p.tokens});
    step = std::gcd(step, int64_t(std::llround(p.width)));
    widths_differ = widths_differ || p.width != params.front().width;
    depths_differ = depths_differ || p.depth != params.front().depth;
  }
  if (!widths_differ || !depths_differ) return std::nullopt;
  ShapeCosts costs;
  costs.params_ = fit(params);
  costs.flops_ = fit(flops);
  costs.width_step_ = double(std::max<int64_t>(step, 1));
  return costs;
}

double ShapeCosts::worst_error() const {
  return std::max(params_.worst_error, flops_.worst_error);
}

TokenCost token_cost(const std::vector<LawPoint>& points) {
  std::vector<double> params, cost;
  bool six = true;
  for (const LawPoint& p : points) {
    if (!(p.flops > 0)) continue;
    params.push_back(p.params);
    cost.push_back(p.flops / p.tokens);
    six = six && std::abs(cost.back() / (6 * p.params) - 1) < 1e-9;
  }
  const bool one_size = params.empty() || *std::max_element(params.begin(), params.end()) ==
                                              *std::min_element(params.begin(), params.end());
  if (six || one_size) return {};
  const LogLine line = fit_log_line(params, cost);
  return {std::exp(line.intercept), line.slope};
}

}  // namespace shoal
