// A line chart as inline SVG, complete without any script. Beside it stand the same curves as JSON, from
// which the page's script draws the chart again when a reader zooms or changes an axis.
#pragma once

#include <string>
#include <vector>

#include "report/curve.h"

namespace shoal::report {

// A level drawn as a dashed line, such as the unigram entropy beside a loss.
struct Mark {
  std::string label;
  double value = 0;
};

struct Chart {
  std::string id;     // of the figure element
  std::string title;  // "Training loss"
  std::string unit;   // "nats a token"
  std::vector<Curve> curves;
  std::vector<Mark> marks = {};
  bool from_zero = false;       // the value axis starts at zero
  std::string x_name = "step";  // another one stays when a reader asks for tokens along the charts
};

// The <figure>: title, buttons, SVG and data. Curves without a finite point are left out; a chart without any
// says so.
std::string chart_html(const Chart& chart);

}  // namespace shoal::report
