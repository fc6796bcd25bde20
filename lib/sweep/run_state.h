// What has become of the runs of a sweep, from the notes that its runner leaves beside their folders.
#pragma once

#include <functional>
#include <string>

#include "model/config.h"
#include "sweep/sweep.h"

namespace shoal {

enum class RunPhase { waiting, stopped, failed, done };

struct RunState {
  RunPhase phase = RunPhase::waiting;
  int exit_code = 0;
  std::string reason;  // of a failure: the last line that the run wrote to its log
};

// <sweep>/notes/<run>.json and <run>.log.
std::string note_path(const Sweep& sweep, const SweepRun& run);
std::string log_path(const Sweep& sweep, const SweepRun& run);
std::string folder_of(const Sweep& sweep, const SweepRun& run);

// Writes the run's own spec, with which `shoal train` takes it, to <sweep>/notes/<run>.yaml. Returns the
// path.
std::string write_spec(const Sweep& sweep, const SweepRun& run);

// A note of the same run under other keys does not count.
RunState state_of(const Sweep& sweep, const SweepRun& run);
void note_exit(const Sweep& sweep, const SweepRun& run, int exit_code);

// The checkpoint that a cooldown branches off from is there, or the run needs none.
bool can_start(const SweepRun& run);

struct CollectOptions {
  std::function<ModelConfig(const RunSpec&)> model;  // with the vocabulary of the run's tokenizer
  bool every_evaluation = false;                     // a row for each, not only the last of a run
  bool partial = false;                              // leave out runs that are not done
};

// Rows for `shoal fit`, as CSV. Throws UserError naming the runs that are not done, unless partial.
std::string collect_csv(const Sweep& sweep, const CollectOptions& options);

}  // namespace shoal
