// How a run starts: afresh, from its own newest checkpoint, or from one of another run.
#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "spec/run_spec.h"
#include "train/checkpoints.h"
#include "train/run_folder.h"

namespace shoal {

enum class StartMode {
  fresh,   // initial weights, step 0
  resume,  // the whole state of this run's newest good checkpoint
  fork,    // the weights of a checkpoint; step 0, a new optimizer
  branch,  // the whole state of another run's checkpoint, under a spec that may differ in its schedule, data,
           // ...
};

struct Start {
  StartMode mode = StartMode::fresh;
  std::optional<CheckpointReader> checkpoint = std::nullopt;  // unless fresh
};

// run.resume decides whether this folder's own checkpoints count; without any, run.fork or run.branch. Throws
// UserError where the folder and the spec do not go together: a folder with a run and resume: never, no
// checkpoint and resume: always, keys that differ from the checkpoint's and change the result.
Start choose_start(const RunSpec& spec, const RunFolder& folder, const Checkpoints& checkpoints, Log& log);

}  // namespace shoal
