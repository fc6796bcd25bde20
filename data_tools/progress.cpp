#include "data_tools/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace shoal {

Progress::Progress(Log& log, std::string name, int64_t total)
    : log_(log), name_(std::move(name)), total_(total) {}

Progress::~Progress() {
  log_.status("");
}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::show(int64_t done, const std::string& words) {
  const auto now = Clock::now();
  if (!log_.terminal() || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  if (total_ <= 0) {
    log_.status(fmt::format("{} {}", name_, words));
    return;
  }
  constexpr int kCells = 20;
  const double share = std::clamp(double(done) / double(total_), 0.0, 1.0);
  const int filled = int(share * kCells);
  const double left = share > 0 ? seconds() * (1 - share) / share : 0;
  log_.status(fmt::format("{} [{:=<{}}{:<{}}] {:.0f}% | {} | eta {}", name_, "", filled, "", kCells - filled,
                          100 * share, words, format_duration(left)));
}

}  // namespace shoal
