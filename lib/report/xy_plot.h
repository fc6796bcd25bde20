// Points and lines over two axes, linear or logarithmic, as inline SVG; and the same as a gnuplot script.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shoal::report {

enum class XyRole {
  dots,   // marks alone
  faint,  // small pale marks, for many
  line,
  dashes,
  strong,   // a line in the ink of the text
  contour,  // a thin line with its label written at its end
  band,     // a filled area: points go along one edge and back along the other
};

struct XyCurve {
  std::string label = {};  // empty: not in the legend
  int color = 0;           // of eight
  XyRole role = XyRole::line;
  std::vector<std::pair<double, double>> points = {};  // a NaN lifts the pen
  std::vector<std::string> notes = {};                 // of dots, shown while a pointer rests on them
};

struct XyPlot {
  std::string id = {};  // of the figure element, and the name of its gnuplot file
  std::string title = {};
  std::string note = {};  // beside the title
  std::string x_name = {}, y_name = {};
  bool log_x = false, log_y = false;
  std::vector<XyCurve> curves = {};  // drawn in this order
};

// The <figure>. Points that are not finite, or not positive on a logarithmic axis, are left out; a plot
// without any point says so.
std::string xy_plot_html(const XyPlot& plot);

// A script that draws the plot with gnuplot 5, its data inside: `gnuplot NAME.gp` writes NAME.svg.
std::string xy_plot_gnuplot(const XyPlot& plot);

// Where a function on a grid of positions has the value `level`, as pieces of lines with NaN between them
// (marching squares with straight interpolation). values[j * xs.size() + i] is at (xs[i], ys[j]); cells with
// a value that is not finite are left out.
std::vector<std::pair<double, double>> contour(const std::vector<double>& xs, const std::vector<double>& ys,
                                               const std::vector<double>& values, double level);

}  // namespace shoal::report
