#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/curve.h"

namespace shoal::report {

namespace {

constexpr const char* absent = "–";

std::vector<double> values_of(const std::vector<Point>& points) {
  std::vector<double> values;
  for (const auto& point : points) values.push_back(point.value);
  return values;
}

Figure validation_figure(const std::vector<Point>& points) {
  const Point* best = nullptr;
  for (const auto& point : points) {
    if (std::isfinite(point.value) && (!best || point.value < best->value)) best = &point;
  }
  if (!best) return {"validation loss", absent, ""};
  return {"validation loss", fmt::format("{:.3f}", best->value),
          fmt::format("perplexity {:.4g}, best of {}, at step {}", std::exp(best->value), points.size(),
                      best->step)};
}

}  // namespace

std::vector<Figure> summary_of(const RunLog& run) {
  const auto& loss = run.points("loss");
  const double last_loss = mean_of_last(loss, 20);
  const double speed = median(values_of(run.points("tokens_per_second")));
  const double mfu = median(values_of(run.points("mfu")));
  double seconds = 0, memory = 0;
  for (const auto& point : run.points("step_ms"))
    seconds += std::isfinite(point.value) ? point.value / 1e3 : 0;
  for (const auto& point : run.points("memory")) memory = std::max(memory, point.value);

  const auto or_absent = [](bool known, const std::string& text) {
    return known ? text : std::string(absent);
  };
  return {
      {"training loss", or_absent(std::isfinite(last_loss), fmt::format("{:.3f}", last_loss)),
       "mean of the last 20 steps"},
      validation_figure(run.points("valid_loss")),
      {"steps", or_absent(!loss.empty(), loss.empty() ? "" : fmt::format("{}", loss.back().step)),
       loss.empty() || loss.back().tokens == 0 ? "" : format_count(double(loss.back().tokens)) + " tokens"},
      {"throughput", or_absent(std::isfinite(speed), format_count(speed)), "tokens a second, median"},
      {"MFU", or_absent(mfu > 0, fmt::format("{:.1f} %", 100 * mfu)), "of the measured peak, median"},
      {"time", or_absent(seconds > 0, format_duration(seconds)), "in training steps"},
      {"memory", or_absent(memory > 0, format_bytes(memory)), "peak"},
  };
}

}  // namespace shoal::report
