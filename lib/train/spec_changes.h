// What of a spec may differ when a run goes on from a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "spec/run_spec.h"

namespace shoal {

struct SpecChange {
  std::string key, before, after;  // "optimizer.lr", "0.001", "0.002"
};

// Keys that change what is computed after the checkpoint. Not among them: where and how a run is watched,
// saved and stopped (run.name, dir, resume, fork, branch, allow_changes, time limit, checkpoint.*, eval.*,
// log.*, guard.*), how it is computed (run.threads, run.device, parallel.*, batch.micro, precision.recompute,
// loss.chunk: the same up to rounding), and run.steps as long as the schedule stays the same.
std::vector<SpecChange> result_changes(const RunSpec& before, const RunSpec& after);

// Keys that decide which tensors there are: model.* and optimizer.name.
std::vector<SpecChange> shape_changes(const RunSpec& before, const RunSpec& after);

// "  optimizer.lr: 0.001 -> 0.002", one a line.
std::string to_text(const std::vector<SpecChange>& changes);

}  // namespace shoal
