#include <fmt/format.h>

#include <cmath>

#include "report/xy_plot.h"

namespace shoal::report {
namespace {

// The colours of the page on light paper.
constexpr const char* colors[8] = {"#2563a8", "#c4532b", "#2c8a57", "#8350a8",
                                   "#b0851a", "#1b8a99", "#b8447f", "#6b7075"};

// Single quotes are the ones in which gnuplot takes every character as it is.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? "''" : c == '\n' ? " " : std::string(1, c);
  return result + "'";
}

std::string style_of(const XyCurve& curve) {
  const char* color = colors[curve.color % 8];
  switch (curve.role) {
    case XyRole::dots:
      return fmt::format("with points pt 7 ps 0.6 lc rgb '{}'", color);
    case XyRole::faint:
      return fmt::format("with points pt 7 ps 0.25 lc rgb '{}'", color);
    case XyRole::line:
      return fmt::format("with lines lw 1.5 lc rgb '{}'", color);
    case XyRole::dashes:
      return fmt::format("with lines lw 1.5 dt 2 lc rgb '{}'", color);
    case XyRole::strong:
      return "with lines lw 2 lc rgb 'black'";
    case XyRole::contour:
      return fmt::format("with lines lw 0.7 lc rgb '{}'", color);
    case XyRole::band:
      return fmt::format("with filledcurves closed fs transparent solid 0.15 lc rgb '{}'", color);
  }
  return "";
}

}  // namespace

std::string xy_plot_gnuplot(const XyPlot& plot) {
  std::string data, drawn;
  for (size_t k = 0; k < plot.curves.size(); ++k) {
    const XyCurve& curve = plot.curves[k];
    if (curve.points.empty()) continue;
    data += fmt::format("$curve{} << END\n", k);
    for (const auto& [x, y] : curve.points) {
      // An empty line lifts the pen.
      data += std::isfinite(x) && std::isfinite(y) ? fmt::format("{:.9g} {:.9g}\n", x, y) : "\n";
    }
    data += "END\n";
    const std::string title = curve.label.empty() ? "notitle" : "title " + quoted(curve.label);
    drawn += fmt::format("{} $curve{} using 1:2 {} {}", drawn.empty() ? "plot" : ", \\\n    ", k,
                         style_of(curve), title);
  }
  std::string script = fmt::format("# {}\n{}", plot.title, data);
  script +=
      fmt::format("set terminal svg size 900,480 noenhanced\nset output {}\n", quoted(plot.id + ".svg"));
  script += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", quoted(plot.title),
                        quoted(plot.x_name), quoted(plot.y_name));
  if (plot.log_x) script += "set logscale x\nset format x '%.2g'\n";
  if (plot.log_y) script += "set logscale y\nset format y '%.3g'\n";
  script += "set key outside right\nset grid ytics lc rgb '#dddddd'\n";
  return script + (drawn.empty() ? "# there is nothing to draw\n" : drawn + "\n");
}

}  // namespace shoal::report
