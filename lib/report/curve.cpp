#include "report/curve.h"

#include <algorithm>
#include <cmath>

namespace shoal::report {

std::vector<Point> smoothed(const std::vector<Point>& points, double half_life) {
  const double keep = std::exp2(-1 / half_life);
  std::vector<Point> result = points;
  const auto pass = [&](auto begin, auto end, auto out) {
    double sum = 0, weight = 0;
    for (auto in = begin; in != end; ++in, ++out) {
      if (!std::isfinite(in->value)) continue;
      sum = keep * sum + in->value;
      weight = keep * weight + 1;
      out->value += (sum / weight - in->value) / 2;
    }
  };
  pass(points.begin(), points.end(), result.begin());
  pass(points.rbegin(), points.rend(), result.rbegin());
  return result;
}

std::vector<Point> thinned(const std::vector<Point>& points, size_t buckets) {
  if (points.size() <= 2 * buckets) return points;
  std::vector<Point> result{points.front()};
  for (size_t bucket = 0; bucket < buckets; ++bucket) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(bucket * points.size() / buckets);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>((bucket + 1) * points.size() / buckets);
    const auto below = [](const Point& a, const Point& b) { return a.value < b.value; };
    const auto gap = std::find_if(begin, end, [](const Point& p) { return !std::isfinite(p.value); });
    if (gap != end) {
      result.push_back(*gap);
      continue;
    }
    auto [low, high] = std::minmax_element(begin, end, below);
    if (high < low) std::swap(low, high);
    if (low->step > result.back().step) result.push_back(*low);
    if (high->step > result.back().step) result.push_back(*high);
  }
  if (result.back().step < points.back().step) result.push_back(points.back());
  return result;
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return std::nan("");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean_of_last(const std::vector<Point>& points, size_t count) {
  double sum = 0;
  size_t n = 0;
  for (auto point = points.rbegin(); point != points.rend() && n < count; ++point) {
    if (!std::isfinite(point->value)) continue;
    sum += point->value;
    ++n;
  }
  return n > 0 ? sum / static_cast<double>(n) : std::nan("");
}

}  // namespace shoal::report
