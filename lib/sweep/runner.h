// Runs of a sweep side by side on this machine, each a process of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sweep/sweep.h"

namespace shoal {

struct RunnerOptions {
  int jobs = 0;                // at a time; 0: as many as the cores hold at run.threads each
  double memory = 0;           // bytes that all may need together, by estimate; 0: the machine's less a tenth
  bool retry = false;          // failed ones as well
  std::string program;         // whose command train is called
  std::function<bool()> stop;  // asked a few times a second; then the runs are told to save and end
  std::function<void(const std::string&)> say;
};

struct SweepOutcome {
  int done = 0, failed = 0, stopped = 0, blocked = 0;
};

// What is done is left alone, the rest is started, resumed or branched off, the longest first. Returns when
// nothing is left to do or a stop was asked for.
SweepOutcome run_sweep(const Sweep& sweep, const RunnerOptions& options);

// Seconds of a machine that makes 10 GFLOP/s, to order runs by.
double work_of(const SweepRun& run);

}  // namespace shoal
