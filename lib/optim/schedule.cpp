#include "optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace shoal {

namespace {

// A length given as a fraction of the whole (below 1) or as a count.
double length_of(double value, int64_t whole) {
  return value < 1 ? value * double(whole) : value;
}

}  // namespace

Schedule::Schedule(const ScheduleSection& section, double max_lr, int64_t steps)
    : max_lr_(max_lr),
      min_lr_(section.min_lr),
      end_(section.decay_steps > 0 ? section.decay_steps : steps),
      cooldown_start_(end_) {
  warmup_ = length_of(section.warmup, end_);
  if (section.name == "cosine") {
    kind_ = Kind::cosine;
  } else if (section.name == "linear") {
    kind_ = Kind::linear;
  } else if (section.name == "constant") {
    kind_ = Kind::constant;
  } else if (section.name == "wsd") {
    kind_ = Kind::wsd;
    const auto cooldown = int64_t(std::llround(length_of(section.cooldown, end_)));
    cooldown_start_ = section.cooldown_start >= 0 ? section.cooldown_start : end_ - cooldown;
    if (cooldown_start_ < 0 || cooldown_start_ > end_) {
      throw UserError(Problem{.what = "the cooldown does not fit into the schedule",
                              .where = "schedule.cooldown_start",
                              .value = std::to_string(cooldown_start_),
                              .allowed = fmt::format("a step from 0 to {}, where the cooldown ends", end_),
                              .hint = "the cooldown ends at schedule.decay_steps, or at run.steps"});
    }
  } else {
    throw UserError(Problem{.what = "unknown schedule",
                            .where = "schedule.name",
                            .value = section.name,
                            .allowed = "cosine, linear, constant, wsd",
                            .hint = ""});
  }
  if (kind_ != Kind::constant && min_lr_ > max_lr_) {
    throw UserError(Problem{.what = "the lowest learning rate is above the highest",
                            .where = "schedule.min_lr",
                            .value = fmt::format("{}", min_lr_),
                            .allowed = fmt::format("0 to optimizer.lr = {}", max_lr_),
                            .hint = ""});
  }
}

double Schedule::lr(int64_t applied) const {
  const double n = double(applied), end = double(end_);
  // A warm-up shorter than one update would start above max_lr by the formula: it starts at max_lr instead.
  if (warmup_ > 0 && n <= warmup_) return std::min(max_lr_, max_lr_ * std::max(1.0, n) / warmup_);
  if (kind_ == Kind::constant || (kind_ == Kind::wsd && applied <= cooldown_start_ && applied < end_))
    return max_lr_;
  if (applied >= end_) return min_lr_;
  const double range = max_lr_ - min_lr_;
  if (kind_ == Kind::cosine) {
    const double lr =
        min_lr_ + range / 2 * (1 + std::cos(std::numbers::pi * (n - warmup_) / (end - warmup_)));
    return std::max(min_lr_, lr);
  }
  const double start = kind_ == Kind::linear ? warmup_ : double(cooldown_start_);
  return min_lr_ + range * (end - n) / (end - start);
}

std::string Schedule::describe() const {
  const std::string warmup = warmup_ > 0 ? fmt::format("{:.6g} updates of warm-up, ", warmup_) : "";
  switch (kind_) {
    case Kind::constant:
      return fmt::format("constant: {}then {:g}", warmup, max_lr_);
    case Kind::wsd:
      return fmt::format("wsd: {}{:g}, from update {} linearly to {:g} at {}", warmup, max_lr_,
                         cooldown_start_, min_lr_, end_);
    case Kind::cosine:
    case Kind::linear:
      break;
  }
  return fmt::format("{}: {}from {:g} to {:g} at update {}", kind_ == Kind::cosine ? "cosine" : "linear",
                     warmup, max_lr_, min_lr_, end_);
}

}  // namespace shoal
