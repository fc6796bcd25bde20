// The learning rate as a pure function of the number of applied updates.
#pragma once

#include <cstdint>
#include <string>

#include "spec/run_spec.h"

namespace shoal {

// n is the count of updates applied so far, so that a skipped step does not move the schedule. With T the end
// of the decay (schedule.decay_steps, or run.steps) and W the warm-up (a real number, as in GPT-NeoX):
//   n <= W    lr = max_lr * max(1, n) / W         (never above max_lr)
//   cosine    lr = min_lr + (max_lr - min_lr)/2 * (1 + cos(pi (n - W)/(T - W)))
//   linear    lr = min_lr + (max_lr - min_lr) * (T - n)/(T - W)
//   constant  lr = max_lr
//   wsd       lr = max_lr up to C, then min_lr + (max_lr - min_lr) * (T - n)/(T - C)
// and min_lr at and after T (not for constant). Cosine and warm-up are GPT-NeoX's
// (megatron/learning_rates.py, v1.0).
class Schedule {
 public:
  // steps is run.steps. Throws UserError where the parts do not fit, for example a cooldown that starts after
  // its end.
  Schedule(const ScheduleSection& section, double max_lr, int64_t steps);

  double lr(int64_t applied) const;

  double warmup() const { return warmup_; }                   // updates
  int64_t end() const { return end_; }                        // T
  int64_t cooldown_start() const { return cooldown_start_; }  // C; T when there is no cooldown
  std::string describe() const;

 private:
  enum class Kind { cosine, linear, constant, wsd } kind_;
  double max_lr_, min_lr_, warmup_;
  int64_t end_, cooldown_start_;
};

}  // namespace shoal
