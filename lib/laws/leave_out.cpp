#include "laws/leave_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/units.h"

namespace shoal {
namespace {

double mean_error(const ParametricLaw& law, const std::vector<LawPoint>& points) {
  double sum = 0;
  for (const LawPoint& p : points) sum += std::abs(std::log(p.loss / law.loss(p)));
  return sum / double(points.size());
}

LeaveOut leave_out(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                   const std::vector<size_t>& members, std::string what) {
  std::vector<bool> out(points.size(), false);
  for (size_t i : members) out[i] = true;
  std::vector<LawPoint> rest, held;
  for (size_t i = 0; i < points.size(); ++i) (out[i] ? held : rest).push_back(points[i]);
  LeaveOut result{std::move(what), held.size(), {}, 0, mean_error(law, held), ""};
  if (const auto problem = why_unidentifiable(rest, law.terms)) {
    result.why_not = problem->what;
    return result;
  }
  result.law = refine_law(law, rest, delta);
  result.error = mean_error(result.law, held);
  return result;
}

std::string name_of_shape(const LawPoint& p) {
  if (p.width > 0 && p.depth > 0) return fmt::format("{:g}x{:g}", p.width, p.depth);
  return format_count(p.params);
}

}  // namespace

std::vector<LeaveOut> leave_out_shapes(const ParametricLaw& law, const std::vector<LawPoint>& points,
                                       double delta) {
  const auto shapes = by_shape(points);
  std::vector<LeaveOut> all(shapes.size());
  if (shapes.size() < 2) return {};
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < shapes.size(); ++i) {
    all[i] = leave_out(law, points, delta, shapes[i], name_of_shape(points[shapes[i].front()]));
  }
  return all;
}

LeaveOut leave_out_largest(const ParametricLaw& law, const std::vector<LawPoint>& points, double delta,
                           double share) {
  const auto size = [](const LawPoint& p) { return p.flops > 0 ? p.flops : p.params * p.tokens; };
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return size(points[a]) > size(points[b]); });
  order.resize(std::max<size_t>(1, size_t(share * double(points.size()))));
  return leave_out(law, points, delta, order, fmt::format("the {:.0f} % with the most FLOPs", 100 * share));
}

}  // namespace shoal
