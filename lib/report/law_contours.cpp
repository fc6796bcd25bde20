#include "report/law_contours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace shoal::report {
namespace {

constexpr int cells = 72, levels = 9;

std::vector<double> spaced(double low, double high) {
  std::vector<double> values;
  for (int i = 0; i <= cells; ++i)
    values.push_back(std::exp(std::log(low) + std::log(high / low) * i / cells));
  return values;
}

std::pair<double, double> range_of(const std::vector<LawPoint>& points, double LawPoint::*value) {
  const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                               [value](auto& a, auto& b) { return a.*value < b.*value; });
  return {(*low).*value, (*high).*value};
}

// Contours at levels whose distance from the lowest value grows evenly in logs, close together near the best.
void add_contours(XyPlot& plot, const std::vector<double>& xs, const std::vector<double>& ys,
                  const std::vector<double>& values, double highest) {
  const double lowest = *std::min_element(values.begin(), values.end());
  for (int k = 1; k <= levels; ++k) {
    const double level = lowest + (highest - lowest) * std::pow(double(k) / levels, 2);
    plot.curves.push_back({.label = fmt::format("{:.3f}", level),
                           .color = 0,
                           .role = XyRole::contour,
                           .points = contour(xs, ys, values, level)});
  }
}

XyPlot in_flops_and_params(const Study& study, const FormStudy& form) {
  XyPlot plot{.id = "isoloss-params",
              .title = "IsoLoss contours",
              .note = "of approach 3, " + name_of(form.law.terms),
              .x_name = "training FLOPs",
              .y_name = "parameters",
              .log_x = true,
              .log_y = true};
  const auto [cheap, dear] = range_of(study.points, &LawPoint::flops);
  const auto [few, many] = range_of(study.points, &LawPoint::params);
  const auto flops = spaced(cheap, dear * 10), params = spaced(few / 2, many * 4);
  std::vector<double> loss;
  for (double n : params) {
    for (double c : flops) {
      LawPoint p;
      p.params = n;
      p.tokens = c / (study.cost.scale * std::pow(n, study.cost.power));
      loss.push_back(form.law.loss(p));
    }
  }
  add_contours(plot, flops, params, loss, range_of(study.points, &LawPoint::loss).second);
  XyCurve dots{.label = "points", .color = 1, .role = XyRole::faint};
  const size_t stride = (study.points.size() + 999) / 1000;
  for (size_t i = 0; i < study.points.size(); i += stride) {
    dots.points.emplace_back(study.points[i].flops, study.points[i].params);
  }
  plot.curves.push_back(dots);
  XyCurve frontier{.label = "best size for the budget", .role = XyRole::strong};
  for (double c : flops) {
    if (const auto best = prescribe(form.law, c, study.cost, nullptr, {});
        best && best->params > params.front() && best->params < params.back()) {
      frontier.points.emplace_back(c, best->params);
    }
  }
  plot.curves.push_back(frontier);
  return plot;
}

XyPlot in_width_and_depth(const Study& study, const FormStudy& form, double budget) {
  XyPlot plot{.id = "isoloss-" + std::to_string(form.law.terms.size()) + "-terms",
              .title = fmt::format("IsoLoss contours over shapes at {:.2g} FLOPs", budget),
              .note = "of approach 3, " + name_of(form.law.terms),
              .x_name = "width",
              .y_name = "depth",
              .log_x = true,
              .log_y = true};
  const auto [narrow, wide] = range_of(study.points, &LawPoint::width);
  const auto [shallow, deep] = range_of(study.points, &LawPoint::depth);
  const auto widths = spaced(narrow / 2, wide * 2), depths = spaced(std::max(1.0, shallow / 2), deep * 2);
  std::vector<double> loss;
  for (double d : depths) {
    for (double w : widths) loss.push_back(loss_at_budget(form.law, *study.shape_costs, budget, w, d));
  }
  add_contours(plot, widths, depths, loss, *std::min_element(loss.begin(), loss.end()) * 1.15);
  XyCurve shapes{.label = "shapes of the table", .color = 1, .role = XyRole::dots};
  for (const auto& members : by_shape(study.points)) {
    const LawPoint& p = study.points[members.front()];
    shapes.points.emplace_back(p.width, p.depth);
    shapes.notes.push_back(fmt::format("{:g}x{:g}, {} parameters", p.width, p.depth, format_count(p.params)));
  }
  plot.curves.push_back(shapes);
  if (const auto best = prescribe(form.law, budget, study.cost, &*study.shape_costs, study.shape_range)) {
    plot.curves.push_back({.label = fmt::format("best: {:g}x{:g}", best->width, best->depth),
                           .color = 2,
                           .role = XyRole::dots,
                           .points = {{best->width, best->depth}},
                           .notes = {fmt::format("loss {:.4f}", best->loss)}});
  }
  return plot;
}

}  // namespace

std::vector<XyPlot> isoloss_plots(const Study& study, const std::vector<double>& budgets) {
  std::vector<XyPlot> plots;
  const double dear = range_of(study.points, &LawPoint::flops).second;
  double budget = dear;
  for (double c : budgets) {
    if (c <= dear) budget = c;
  }
  for (const FormStudy& form : study.forms) {
    if (form.params_slope) {
      plots.push_back(in_flops_and_params(study, form));
    } else if (study.shape_costs) {
      plots.push_back(in_width_and_depth(study, form, budget));
    }
  }
  return plots;
}

}  // namespace shoal::report
