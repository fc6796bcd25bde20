#include "train/traffic_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace shoal {

std::string to_json(const TrafficSummary& summary, const Traffic& traffic) {
  nlohmann::ordered_json labels = nlohmann::ordered_json::array();
  for (const auto& [label, entry] : traffic.entries()) {
    labels.push_back({{"label", label},
                      {"calls", entry.calls},
                      {"ring_bytes", entry.ring_bytes},
                      {"wait_seconds", entry.wait_seconds},
                      {"under_way_seconds", entry.under_way_seconds}});
  }
  const auto& size = summary.grid.size;
  const nlohmann::ordered_json json = {
      {"ranks", summary.grid.ranks()},
      {"grid", {{"x", size[0]}, {"y", size[1]}, {"z", size[2]}, {"data", size[3]}}},
      {"rank", summary.rank},
      {"steps", summary.steps},
      {"seconds", summary.seconds},
      {"labels", labels}};
  return json.dump(1) + "\n";
}

std::vector<std::string> traffic_lines(const TrafficSummary& summary, const Traffic& traffic) {
  std::map<std::string, TrafficEntry> purposes;
  for (const auto& [label, entry] : traffic.entries()) {
    TrafficEntry& sum = purposes[label.substr(0, label.find(' '))];
    sum.calls += entry.calls;
    sum.ring_bytes += entry.ring_bytes;
    sum.wait_seconds += entry.wait_seconds;
    sum.under_way_seconds += entry.under_way_seconds;
  }
  std::vector<std::string> lines;
  const double steps = double(std::max<int64_t>(summary.steps, 1));
  for (const auto& [purpose, sum] : purposes) {
    const double hidden = sum.under_way_seconds > 0 ? 1 - sum.wait_seconds / sum.under_way_seconds : 0;
    lines.push_back(fmt::format(
        "{:<12} {:>8} a step in {:.4g} calls, {:.1f} ms waited of {:.1f} ms, {:.0f} % hidden", purpose,
        format_bytes(sum.ring_bytes / steps), double(sum.calls) / steps, 1e3 * sum.wait_seconds / steps,
        1e3 * sum.under_way_seconds / steps, 100 * std::max(0.0, hidden)));
  }
  return lines;
}

}  // namespace shoal
