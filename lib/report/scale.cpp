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

Scale log_scale(double low, double high, double from, double to) {
  if (!(high > low * 1.001)) {
    low /= 1.1;
    high *= 1.1;
  }
  Scale scale{std::log10(low), std::log10(high), from, to};
  const double decades = scale.high - scale.low;
  if (decades < 0.8) {
    for (double tick : linear_scale(low, high, 0, 1, 6, false).ticks) {
      if (tick > 0) scale.ticks.push_back(tick);
    }
    return scale;
  }
  const int every = decades > 16 ? 4 : decades > 8 ? 2 : 1;
  for (int e = int(std::floor(scale.low)); e <= int(std::ceil(scale.high)); ++e) {
    for (double digit : {1.0, 2.0, 5.0}) {
      if (digit > 1 && decades > 2.5) continue;
      if (e % every != 0) continue;
      const double tick = digit * std::pow(10, e);
      if (tick >= low * 0.999 && tick <= high * 1.001) scale.ticks.push_back(tick);
    }
  }
  return scale;
}

std::string tick_label(double value) {
  const double size = std::abs(value);
  if (size < 1e-12) return "0";
  if (size >= 1e15) {  // FLOPs, mostly
    std::string text = fmt::format("{:.3g}", value);
    return text.replace(text.find("e+"), 2, "e");
  }
  if (size >= 1e12) return fmt::format("{:.4g}T", value / 1e12);
  if (size >= 1e9) return fmt::format("{:.4g}B", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

}  // namespace shoal::report
