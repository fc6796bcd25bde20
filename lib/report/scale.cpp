#include "report/scale.h"

#include <fmt/format.h>

#include <cmath>

namespace shoal::report {

namespace {

double round_step(double range, int count) {
  const double rough = range / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

}  // namespace

Scale linear_scale(double low, double high, double from, double to, int count, bool whole_ticks) {
  if (!(high > low)) {
    const double half = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= half;
    high += half;
  }
  const double step = round_step(high - low, count);
  if (whole_ticks) {
    low = std::floor(low / step) * step;
    high = std::ceil(high / step) * step;
  }
  Scale scale{low, high, from, to};
  const double slack = step * 1e-6;
  for (double i = std::ceil((low - slack) / step); i * step <= high + slack; ++i)
    scale.ticks.push_back(i * step);
  return scale;
}

std::string tick_label(double value) {
  const double size = std::abs(value);
  if (size < 1e-12) return "0";
  if (size >= 1e9) return fmt::format("{:.4g}B", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

}  // namespace shoal::report
