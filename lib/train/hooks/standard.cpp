#include "train/hooks.h"

namespace shoal {

// The guard judges before anyone writes; metrics of a step are written before its checkpoint, so that a
// resumed run finds them; stopping comes last, when the step's evaluation and checkpoint are done.
std::vector<std::unique_ptr<Hook>> standard_hooks(const RunSpec& spec) {
  std::vector<std::unique_ptr<Hook>> hooks;
  hooks.push_back(make_heartbeat_hook());
  hooks.push_back(make_guard_hook(spec.guard));
  hooks.push_back(make_console_hook(spec.log));
  hooks.push_back(make_metrics_hook(spec.log));
  if (spec.log.tensorboard) hooks.push_back(make_tensorboard_hook(spec.log));
  hooks.push_back(make_evaluation_hook(spec.eval));
  hooks.push_back(make_checkpoint_hook(spec.checkpoint));
  hooks.push_back(make_stop_hook());
  return hooks;
}

}  // namespace shoal
