#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/html.h"
#include "report/scale.h"

namespace shoal::report {

namespace {

// The drawing area in user units; page.js uses the same numbers, from the data-plot attribute.
constexpr double width = 720, height = 300;
constexpr double left = 58, right = 706, top = 14, bottom = 262;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

// The pieces of a curve between the points that are not finite.
std::string path_data(const Curve& curve, const Scale& x, const Scale& y) {
  std::string data;
  bool pen_down = false;
  for (const auto& point : curve.points) {
    if (std::isfinite(point.value)) {
      data += fmt::format("{}{:.1f},{:.1f}", pen_down ? "L" : "M", x.at(static_cast<double>(point.step)),
                          y.at(point.value));
    }
    pen_down = std::isfinite(point.value);
  }
  return data;
}

std::string curve_svg(const Curve& curve, const Scale& x, const Scale& y) {
  std::string svg = fmt::format("<path class=\"curve {} c{}\" d=\"{}\"/>", curve.role, curve.color % 8,
                                path_data(curve, x, y));
  if (curve.role != "dots") return svg;
  for (const auto& point : curve.points) {
    if (!std::isfinite(point.value)) continue;
    svg += fmt::format("<circle class=\"c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>", curve.color % 8,
                       x.at(static_cast<double>(point.step)), y.at(point.value));
  }
  return svg;
}

std::string axes_svg(const Scale& x, const Scale& y) {
  std::string svg;
  for (const double tick : y.ticks) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f},{:.1f}H{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>",
        left, y.at(tick), right, left - 8, y.at(tick) + 4, tick_label(tick));
  }
  for (const double tick : x.ticks) {
    svg += fmt::format(
        "<path class=\"tick\" d=\"M{0:.1f},{1:.1f}v5\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" "
        "text-anchor=\"middle\">{3}</text>",
        x.at(tick), bottom, bottom + 19, tick_label(tick));
  }
  return svg + fmt::format("<path class=\"axis\" d=\"M{:.1f},{:.1f}H{:.1f}\"/>", left, bottom, right);
}

std::string mark_svg(const Mark& mark, const Scale& y) {
  const double at = y.at(mark.value);
  return fmt::format(
      "<path class=\"mark\" d=\"M{:.1f},{:.1f}H{:.1f}\"/><text class=\"mark\" x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"end\">{} {:.3f}</text>",
      left, at, right, right - 4, at - 5, escaped(mark.label), mark.value);
}

std::string data_json(const Chart& chart) {
  std::string json = fmt::format("{{\"zero\":{},\"marks\":[", chart.from_zero);
  for (size_t i = 0; i < chart.marks.size(); ++i) {
    json += fmt::format("{}[{},{}]", i ? "," : "", json_string(chart.marks[i].label),
                        json_number(chart.marks[i].value));
  }
  json += "],\"curves\":[";
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    const Curve& curve = chart.curves[i];
    std::string steps, tokens, values;
    for (const auto& point : curve.points) {
      const char* comma = steps.empty() ? "" : ",";
      steps += fmt::format("{}{}", comma, point.step);
      tokens += fmt::format("{}{}", comma, point.tokens);
      values += comma + json_number(point.value);
    }
    json += fmt::format(
        "{}{{\"label\":{},\"color\":{},\"role\":\"{}\",\"step\":[{}],\"tokens\":[{}],\"value\":[{}]}}",
        i ? "," : "", json_string(curve.label), curve.color % 8, curve.role, steps, tokens, values);
  }
  return json + "]}";
}

}  // namespace

std::string chart_html(const Chart& given) {
  Chart chart = given;
  Range steps, values;
  std::erase_if(chart.curves, [](const Curve& curve) {
    return std::none_of(curve.points.begin(), curve.points.end(),
                        [](auto& p) { return std::isfinite(p.value); });
  });
  for (const auto& curve : chart.curves) {
    for (const auto& point : curve.points) {
      steps.add(static_cast<double>(point.step));
      values.add(point.value);
    }
  }
  std::string html = fmt::format(
      "<figure class=\"chart\" id=\"{}\"><figcaption><h3>{}</h3><span class=\"unit\">{}</span>"
      "<span class=\"tools\" hidden></span></figcaption>",
      chart.id, escaped(chart.title), escaped(chart.unit));
  if (values.empty()) return html + "<p class=\"empty\">nothing was logged</p></figure>\n";
  for (const auto& mark : chart.marks) values.add(mark.value);
  if (chart.from_zero) values.add(0);

  const Scale x = linear_scale(steps.low, steps.high, left, right, 8, false);
  const Scale y = linear_scale(values.low, values.high, bottom, top, 5, true);
  html += fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" data-plot=\"{} {} {} {}\">",
                      width, height, escaped(chart.title), left, right, top, bottom);
  html += "<g class=\"plot\">" + axes_svg(x, y);
  for (const auto& mark : chart.marks) html += mark_svg(mark, y);
  for (const auto& curve : chart.curves) html += curve_svg(curve, x, y);
  html += fmt::format("</g><text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></svg>",
                      chart.x_name == "step" ? "x-name" : "x-fixed", (left + right) / 2, height - 4,
                      escaped(chart.x_name));
  html += "<script type=\"application/json\">" + data_json(chart) + "</script></figure>\n";
  return html;
}

}  // namespace shoal::report
