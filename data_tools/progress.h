// A progress bar on a terminal; nothing elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/log.h"

namespace shoal {

class Progress {
 public:
  // total 0: not known.
  Progress(Log& log, std::string name, int64_t total);
  ~Progress();

  // done of total, and further words; drawn at most ten times a second.
  void show(int64_t done, const std::string& words);
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  Log& log_;
  std::string name_;
  int64_t total_;
  Clock::time_point start_ = Clock::now(), last_{};
};

}  // namespace shoal
