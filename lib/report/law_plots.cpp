#include "report/law_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.h"
#include "report/law_contours.h"

namespace shoal::report {
namespace {

constexpr size_t most_dots = 2500;

std::string note_of(const LawPoint& p) {
  std::string text = p.run.empty() ? "" : p.run + ": ";
  if (p.width > 0) text += fmt::format("{:g}x{:g}, ", p.width, p.depth);
  return text + fmt::format("{} parameters, {} tokens, {:.3g} FLOPs, loss {:.4f}", format_count(p.params),
                            format_count(p.tokens), p.flops, p.loss);
}

// The points by size in up to six classes of equally many shapes, so that the legend stays short.
std::vector<XyCurve> classes_of_size(const Study& study) {
  const auto shapes = by_shape(study.points);
  const size_t classes = std::min<size_t>(6, shapes.size());
  const size_t stride = (study.points.size() + most_dots - 1) / most_dots;
  std::vector<XyCurve> curves;
  for (size_t c = 0; c < classes; ++c) {
    const size_t first = c * shapes.size() / classes, end = (c + 1) * shapes.size() / classes;
    const double low = study.points[shapes[first].front()].params,
                 high = study.points[shapes[end - 1].front()].params;
    XyCurve curve{.label = low == high ? format_count(low) : format_count(low) + " to " + format_count(high),
                  .color = int(c),
                  .role = XyRole::faint};
    for (size_t s = first; s < end; ++s) {
      for (size_t k = 0; k < shapes[s].size(); k += stride) {
        const LawPoint& p = study.points[shapes[s][k]];
        curve.points.emplace_back(p.flops, p.loss);
        curve.notes.push_back(note_of(p));
      }
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

// The budgets that were prescribed for, once each, ascending.
std::vector<double> budgets_of(const Study& study) {
  std::vector<double> budgets;
  for (const Advice& a : study.advice) budgets.push_back(a.at.flops);
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  return budgets;
}

// One value of the advice of an approach at each budget, and the edges of its interval.
struct Series {
  std::string approach;
  XyCurve line, band;
};
std::vector<Series> series_of(const Study& study, double (*value)(const Prescription&),
                              const Spread Advice::*spread) {
  std::vector<Series> all;
  for (const Advice& a : study.advice) {
    auto found =
        std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.approach == a.approach; });
    if (found == all.end()) {
      const int color = int(all.size());
      all.push_back({a.approach,
                     {.label = "approach " + a.approach, .color = color, .role = XyRole::line},
                     {.color = color, .role = XyRole::band}});
      found = all.end() - 1;
    }
    found->line.points.emplace_back(a.at.flops, value(a.at));
    if (spread != nullptr && (a.*spread).count > 0) {
      auto& edge = found->band.points;
      const auto middle = edge.begin() + std::ptrdiff_t(edge.size() / 2);
      const auto at = edge.insert(middle, {a.at.flops, (a.*spread).low});
      edge.insert(at + 1, {a.at.flops, (a.*spread).high});
    }
  }
  return all;
}

XyPlot loss_plot(const Study& study) {
  XyPlot plot{.id = "loss-against-flops",
              .title = "Loss against FLOPs",
              .note = "each point a model and an amount of training",
              .x_name = "training FLOPs",
              .y_name = "loss",
              .log_x = true,
              .log_y = true};
  plot.curves = classes_of_size(study);
  XyCurve hull{.label = "hull (approach 1)", .role = XyRole::strong};
  XyCurve corners{.color = 7, .role = XyRole::dots};
  for (size_t i : study.hull) {
    const LawPoint& p = study.points[i];
    hull.points.emplace_back(p.flops, p.loss);
    corners.points.emplace_back(p.flops, p.loss);
    corners.notes.push_back("on the hull: " + note_of(p));
  }
  double dear = 0;
  for (const LawPoint& p : study.points) dear = std::max(dear, p.flops);
  for (Series& s : series_of(
           study, [](const Prescription& p) { return p.loss; }, nullptr)) {
    if (s.line.points.front().second <= 0) continue;  // approaches 1 and 2 do not predict losses
    std::erase_if(s.line.points, [dear](const auto& point) { return point.first > 3 * dear; });
    s.line.role = XyRole::dashes;
    s.line.label += ", predicted best";
    plot.curves.push_back(s.line);
  }
  plot.curves.push_back(hull);
  plot.curves.push_back(corners);
  return plot;
}

XyPlot isoflop_plot(const Study& study) {
  XyPlot plot{.id = "isoflop-profiles",
              .title = "IsoFLOP profiles",
              .note = "approach 2: one parabola a budget",
              .x_name = "parameters",
              .y_name = "loss",
              .log_x = true,
              .log_y = false};
  XyCurve minima{.label = "lowest points", .role = XyRole::dots};
  minima.color = 7;
  int color = 0;
  for (const IsoflopProfile& profile : study.profiles) {
    if (profile.samples.size() < 3) continue;
    XyCurve dots{.color = color, .role = XyRole::dots},
        line{.label = fmt::format("{:.2g} FLOPs", profile.flops), .color = color, .role = XyRole::line};
    color = (color + 1) % 7;
    for (const IsoflopSample& s : profile.samples) {
      dots.points.emplace_back(s.params, s.loss);
      dots.notes.push_back(fmt::format("{} parameters, {} tokens, loss {:.4f}", format_count(s.params),
                                       format_count(s.tokens), s.loss));
    }
    const double low = std::log(profile.samples.front().params),
                 high = std::log(profile.samples.back().params);
    for (int i = 0; i <= 40; ++i) {
      const double params = std::exp(low + (high - low) * i / 40);
      line.points.emplace_back(params, profile.loss_at(params));
    }
    if (profile.has_minimum) minima.points.emplace_back(profile.params, profile.loss);
    plot.curves.push_back(dots);
    plot.curves.push_back(line);
  }
  plot.curves.push_back(minima);
  return plot;
}

XyPlot optimum_plot(const Study& study, const char* id, const char* title, const char* y_name,
                    double (*value)(const Prescription&), const Spread Advice::*spread,
                    double (*of_point)(const LawPoint&)) {
  XyPlot plot{.id = id,
              .title = title,
              .note = "shaded: 95 % of the resampled fits",
              .x_name = "training FLOPs",
              .y_name = y_name,
              .log_x = true,
              .log_y = true};
  const auto all = series_of(study, value, spread);
  for (const Series& s : all) plot.curves.push_back(s.band);
  XyCurve hull{.label = "points of the hull", .color = 7, .role = XyRole::dots};
  for (size_t i : study.hull) {
    hull.points.emplace_back(study.points[i].flops, of_point(study.points[i]));
    hull.notes.push_back(note_of(study.points[i]));
  }
  plot.curves.push_back(hull);
  for (const Series& s : all) plot.curves.push_back(s.line);
  return plot;
}

XyPlot shape_plot(const Study& study) {
  XyPlot plot{.id = "width-and-depth",
              .title = "Optimal width and depth",
              .note = "rounded to what can be built",
              .x_name = "training FLOPs",
              .y_name = "width, depth",
              .log_x = true,
              .log_y = true};
  int color = 0;
  for (auto [name, value] : {std::pair{"width", +[](const Prescription& p) { return p.width; }},
                             {"depth", +[](const Prescription& p) { return p.depth; }}}) {
    for (Series& s : series_of(study, value, nullptr)) {
      if (s.line.points.front().second <= 0) continue;
      s.line.label = fmt::format("{}, {}", name, s.approach);
      s.line.color = color++;
      if (std::string(name) == "depth") s.line.role = XyRole::dashes;
      plot.curves.push_back(s.line);
    }
  }
  return plot;
}

}  // namespace

std::vector<XyPlot> law_plots(const Study& study) {
  std::vector<XyPlot> plots{loss_plot(study)};
  if (std::any_of(study.profiles.begin(), study.profiles.end(),
                  [](auto& p) { return p.samples.size() >= 3; })) {
    plots.push_back(isoflop_plot(study));
  }
  if (!study.advice.empty()) {
    plots.push_back(optimum_plot(
        study, "optimal-params", "Optimal parameters", "parameters",
        [](const Prescription& p) { return p.params; }, &Advice::params,
        [](const LawPoint& p) { return p.params; }));
    plots.push_back(optimum_plot(
        study, "optimal-tokens", "Optimal tokens", "tokens", [](const Prescription& p) { return p.tokens; },
        &Advice::tokens, [](const LawPoint& p) { return p.tokens; }));
    plots.push_back(optimum_plot(
        study, "tokens-per-parameter", "Tokens per parameter", "tokens per parameter",
        [](const Prescription& p) { return p.tokens / p.params; }, nullptr,
        [](const LawPoint& p) { return p.tokens / p.params; }));
    plots.back().note = "";
  }
  for (XyPlot& plot : isoloss_plots(study, budgets_of(study))) plots.push_back(std::move(plot));
  if (XyPlot shapes = shape_plot(study); !shapes.curves.empty()) plots.push_back(std::move(shapes));
  return plots;
}

}  // namespace shoal::report
