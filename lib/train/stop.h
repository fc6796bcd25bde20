// Whether the run should stop early: a signal or the time limit on any rank, seen by all ranks at the same
// moment.
#pragma once

#include <chrono>
#include <string>

#include "comm/communicator.h"
#include "train/signals.h"

namespace shoal {

class StopPoll {
 public:
  // The clock of the time limit starts now. 0 minutes: no limit.
  StopPoll(Communicator& world, double time_limit_minutes);

  // Collective: every rank must call it at the same point. Once true it stays true.
  bool poll();
  const std::string& reason() const { return reason_; }  // "SIGTERM", "the time limit of 30 minutes"

 private:
  Communicator& world_;
  StopSignals signals_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double limit_minutes_;
  std::string reason_;
};

}  // namespace shoal
