#include "train/hooks.h"

namespace shoal {

// The trace ends a step before the others begin their own work; traffic is counted before that of the hooks
// is added. The guard judges before anyone writes, and weights are compared before they are saved; metrics of
// a step are written before its checkpoint, so that a resumed run finds them; stopping comes last, when the
// step's evaluation and checkpoint are done.
std::vector<std::unique_ptr<Hook>> standard_hooks(const RunSpec& spec, bool first_rank) {
  std::vector<std::unique_ptr<Hook>> hooks;
  hooks.push_back(make_heartbeat_hook());
  hooks.push_back(make_grid_hook());
  hooks.push_back(make_traffic_hook());
  if (spec.trace.steps > 0) hooks.push_back(make_trace_hook(spec.trace));
  hooks.push_back(make_guard_hook(spec.guard));
  if (spec.parallel.check_replicas > 0) hooks.push_back(make_replicas_hook(spec.parallel.check_replicas));
  if (first_rank) hooks.push_back(make_console_hook(spec.log));
  if (first_rank) hooks.push_back(make_metrics_hook(spec.log));
  if (first_rank && spec.log.tensorboard) hooks.push_back(make_tensorboard_hook(spec.log));
  hooks.push_back(make_evaluation_hook(spec.eval));
  hooks.push_back(make_checkpoint_hook(spec.checkpoint));
  hooks.push_back(make_stop_hook());
  return hooks;
}

}  // namespace shoal
