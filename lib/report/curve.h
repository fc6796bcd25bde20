// From logged points to a curve that can be drawn: smoothed, and thinned to what a screen can show.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/run_log.h"

namespace shoal::report {

struct Curve {
  std::string label;
  int color = 0;     // index of the run
  std::string role;  // "line", "raw" (drawn faintly below its smoothed line), "dots"
  std::vector<Point> points;
};

// A running mean without lag: the average of two exponential moving averages, one from each end, whose
// weights halve every `half_life` points. Values that are not finite stay so and are left out of the rest.
std::vector<Point> smoothed(const std::vector<Point>& points, double half_life);

// At most about 2 * buckets of the points, in order: of each stretch of equal length the lowest and the
// highest, so that every spike stays; the first and the last point always.
std::vector<Point> thinned(const std::vector<Point>& points, size_t buckets);

double median(std::vector<double> values);                            // NaN for none
double mean_of_last(const std::vector<Point>& points, size_t count);  // of finite values; NaN for none

}  // namespace shoal::report
