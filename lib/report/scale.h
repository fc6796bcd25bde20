// The axis of a chart: its range, round tick values and their labels.
#pragma once

#include <string>
#include <vector>

namespace shoal::report {

struct Scale {
  double low = 0, high = 1;        // data
  double from = 0, to = 1;         // pixels of low and high
  std::vector<double> ticks = {};  // within low and high, ascending

  double at(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

// Ticks at 1, 2 or 5 times a power of ten, about `count` of them; the range is widened to whole ticks if
// asked.
Scale linear_scale(double low, double high, double from, double to, int count, bool whole_ticks);

// A scale of log10 of positive values, with `ticks` holding the values themselves: powers of ten, or rounder
// numbers between them where the range is short.
Scale log_scale(double low, double high, double from, double to);

// "0", "250", "1.5k", "40M", "1e18", "0.0003", "2e-05": short, and exact for round ticks.
std::string tick_label(double value);

}  // namespace shoal::report
