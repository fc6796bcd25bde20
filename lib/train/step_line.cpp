#include "train/step_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace shoal {

void SpeedMeter::add(const StepRecord& record) {
  const Sample sample{record.seconds, record.data_seconds, record.step_tokens};
  if (++seen_ == warmup_ + 1) samples_.clear();
  samples_.push_back(sample);
  if (seen_ <= warmup_) {
    if (samples_.size() > 1) samples_.pop_front();
    return;
  }
  if (samples_.size() > window_) samples_.pop_front();
  total_.seconds += sample.seconds;
  total_.tokens += sample.tokens;
}

double SpeedMeter::tokens_per_second() const {
  double seconds = 0, tokens = 0;
  for (const Sample& s : samples_) {
    seconds += s.seconds;
    tokens += double(s.tokens);
  }
  return seconds > 0 ? tokens / seconds : 0;
}

double SpeedMeter::seconds_per_step() const {
  double seconds = 0;
  for (const Sample& s : samples_) seconds += s.seconds;
  return samples_.empty() ? 0 : seconds / double(samples_.size());
}

double SpeedMeter::data_share() const {
  double seconds = 0, data = 0;
  for (const Sample& s : samples_) {
    seconds += s.seconds;
    data += s.data_seconds;
  }
  return seconds > 0 ? data / seconds : 0;
}

double SpeedMeter::average_tokens_per_second() const {
  return total_.seconds > 0 ? double(total_.tokens) / total_.seconds : tokens_per_second();
}

std::string step_line(const StepRecord& r, int64_t steps, const SpeedMeter& speed) {
  const double left = double(steps - r.step) * speed.seconds_per_step();
  std::string line = fmt::format("step {}/{} | loss {:.3f}", r.step, steps, r.loss);
  if (!r.applied) line += " (skipped)";
  line += fmt::format(" | grad {:.2f} | lr {} | {:.0f} ms | {} tok/s", r.grad_norm, format_lr(r.lr),
                      r.seconds * 1e3, format_count(speed.tokens_per_second()));
  if (r.mfu > 0) {
    line += fmt::format(" | MFU {:.1f}%", r.mfu / r.tokens_per_second * speed.tokens_per_second() * 100);
  }
  line += fmt::format(" | data {:.1f}% | mem {} | eta {}", speed.data_share() * 100,
                      format_bytes(double(r.memory_bytes)), format_duration(left));
  return line;
}

std::string progress_line(const StepRecord& r, int64_t steps, const SpeedMeter& speed, int width) {
  constexpr int64_t cells = 20;
  const int64_t done = steps > 0 ? std::clamp<int64_t>(cells * r.step / steps, 0, cells) : cells;
  std::string bar = fmt::format("[{:=<{}}{:<{}}] ", "", done, done < cells ? ">" : "", cells - done);
  std::string line = bar + step_line(r, steps, speed);
  if (int(line.size()) >= width) line.resize(size_t(std::max(width - 1, 0)));
  return line;
}

}  // namespace shoal
