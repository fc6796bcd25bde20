#include "report/xy_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/html.h"
#include "report/scale.h"

namespace shoal::report {
namespace {

constexpr double width = 720, height = 330;
constexpr double left = 62, right = 700, top = 14, bottom = 284;

struct Axis {
  bool log = false;
  Scale scale = {};  // of log10 where log
  std::vector<double> ticks = {};

  double at(double value) const { return scale.at(log ? std::log10(value) : value); }
  bool shows(double value) const { return std::isfinite(value) && (!log || value > 0); }
};

Axis make_axis(const XyPlot& plot, bool x, double from, double to) {
  Axis axis{x ? plot.log_x : plot.log_y};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const XyCurve& curve : plot.curves) {
    for (const auto& [px, py] : curve.points) {
      const double value = x ? px : py;
      if (!axis.shows(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(high >= low)) return axis;
  if (!axis.log) {
    axis.scale = linear_scale(low, high, from, to, x ? 8 : 6, !x);
    axis.ticks = axis.scale.ticks;
    return axis;
  }
  const double margin = std::pow(high / low, 0.02);  // so that no mark lies on the frame
  axis.scale = log_scale(low / margin, high * margin, from, to);
  axis.ticks = axis.scale.ticks;
  return axis;
}

std::string color_class(const XyCurve& curve) {
  return fmt::format("c{}", curve.color % 8);
}

const char* role_class(XyRole role) {
  switch (role) {
    case XyRole::dots:
      return "dots";
    case XyRole::faint:
      return "faint";
    case XyRole::line:
      return "line";
    case XyRole::dashes:
      return "dashes";
    case XyRole::strong:
      return "strong";
    case XyRole::contour:
      return "contour";
    case XyRole::band:
      return "band";
  }
  return "";
}

bool is_dots(XyRole role) {
  return role == XyRole::dots || role == XyRole::faint;
}

std::string dots_svg(const XyCurve& curve, const Axis& x, const Axis& y) {
  std::string svg;
  for (size_t i = 0; i < curve.points.size(); ++i) {
    const auto& [px, py] = curve.points[i];
    if (!x.shows(px) || !y.shows(py)) continue;
    svg += fmt::format("<circle class=\"{} {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"", role_class(curve.role),
                       color_class(curve), x.at(px), y.at(py), curve.role == XyRole::faint ? 1.7 : 3.4);
    svg += i < curve.notes.size() && !curve.notes[i].empty()
               ? "><title>" + escaped(curve.notes[i]) + "</title></circle>"
               : "/>";
  }
  return svg;
}

std::string line_svg(const XyCurve& curve, const Axis& x, const Axis& y) {
  std::string data;
  bool pen_down = false;
  std::pair<double, double> end{-1, 0};  // the rightmost place, in pixels
  for (const auto& [px, py] : curve.points) {
    const bool shown = x.shows(px) && y.shows(py);
    if (shown) {
      const double at_x = x.at(px), at_y = y.at(py);
      data += fmt::format("{}{:.1f},{:.1f}", pen_down ? "L" : "M", at_x, at_y);
      if (at_x > end.first) end = {at_x, at_y};
    }
    pen_down = shown;
  }
  if (data.empty()) return "";
  if (curve.role == XyRole::band) data += "Z";
  std::string svg =
      fmt::format("<path class=\"curve {} {}\" d=\"{}\"/>", role_class(curve.role), color_class(curve), data);
  if (curve.role == XyRole::contour) {
    svg += fmt::format("<text class=\"level\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
                       end.first - 2, end.second - 3, escaped(curve.label));
  }
  return svg;
}

std::string axes_svg(const XyPlot& plot, const Axis& x, const Axis& y) {
  std::string svg;
  for (const double tick : y.ticks) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f},{1:.1f}H{2:.1f}\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>",
        left, y.at(tick), right, left - 8, y.at(tick) + 4, tick_label(tick));
  }
  for (const double tick : x.ticks) {
    svg += fmt::format(
        "<path class=\"tick\" d=\"M{0:.1f},{1:.1f}v5\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" "
        "text-anchor=\"middle\">{3}</text>",
        x.at(tick), bottom, bottom + 19, tick_label(tick));
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>", left, bottom, right);
  return svg + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", (left + right) / 2,
                           height - 6, escaped(plot.x_name));
}

std::string legend_html(const XyPlot& plot) {
  std::string html;
  for (const XyCurve& curve : plot.curves) {
    if (curve.label.empty() || curve.role == XyRole::contour) continue;
    html += fmt::format("<span><i class=\"key {} {}\"></i>{}</span>", role_class(curve.role),
                        color_class(curve), escaped(curve.label));
  }
  return html.empty() ? "" : "<div class=\"legend\">" + html + "</div>";
}

}  // namespace

std::string xy_plot_html(const XyPlot& plot) {
  std::string html = fmt::format(
      "<figure class=\"chart xy\" id=\"{}\"><figcaption><h3>{}</h3><span "
      "class=\"unit\">{}</span></figcaption>",
      plot.id, escaped(plot.title), escaped(plot.note));
  const Axis x = make_axis(plot, true, left, right), y = make_axis(plot, false, bottom, top);
  if (x.ticks.empty() || y.ticks.empty())
    return html + "<p class=\"empty\">there is nothing to draw</p></figure>\n";
  html += fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", width, height,
                      escaped(plot.title));
  html +=
      fmt::format("<clipPath id=\"clip-{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
                  plot.id, left, top - 6, right - left, bottom - top + 6);
  html += axes_svg(plot, x, y) + fmt::format("<g clip-path=\"url(#clip-{})\">", plot.id);
  for (const XyCurve& curve : plot.curves)
    html += is_dots(curve.role) ? dots_svg(curve, x, y) : line_svg(curve, x, y);
  return html + "</g></svg>" + legend_html(plot) + "</figure>\n";
}

}  // namespace shoal::report
