// Watches for a loss that is not finite or jumps, and decides what becomes of the step.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "spec/run_spec.h"

namespace shoal {

enum class Verdict { good, skip, rollback, stop };

class LossGuard {
 public:
  explicit LossGuard(const GuardSection& section) : section_(section) {}

  // Judges a step before its update. A step is bad if its loss or gradient norm is not finite, or, with a
  // spike_factor, if its loss exceeds spike_factor times the mean of the last spike_window good losses (once
  // there are that many). skip and rollback turn into stop when their budget is spent: max_skips bad steps in
  // a row, max_rollbacks rollbacks in the run.
  Verdict judge(double loss, double grad_norm);
  const std::string& reason() const { return reason_; }  // of the last verdict that was not good

  // As JSON, bit-exact.
  std::string to_json() const;
  void from_json(const std::string& text);
  // The budget outlives the state that a rollback restores.
  int64_t rollbacks() const { return rollbacks_; }
  void set_rollbacks(int64_t n) { rollbacks_ = n; }

 private:
  GuardSection section_;
  std::deque<double> window_;  // the last good losses
  int64_t skips_in_a_row_ = 0, rollbacks_ = 0;
  std::string reason_;
};

}  // namespace shoal
