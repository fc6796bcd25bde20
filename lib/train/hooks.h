// The hooks of every run, in the order in which they are called.
#pragma once

#include <memory>
#include <vector>

#include "spec/run_spec.h"
#include "train/hook.h"

namespace shoal {

std::vector<std::unique_ptr<Hook>> standard_hooks(const RunSpec& spec);

// Whether log.every lets a step through: each multiple, the first, the last, and skipped ones.
bool is_logged(const LogSection& log, const StepRecord& record, int64_t steps);

std::unique_ptr<Hook> make_heartbeat_hook();                       // heartbeat.json: step, phase, time
std::unique_ptr<Hook> make_guard_hook(const GuardSection& guard);  // losses that are not finite, or jump
std::unique_ptr<Hook> make_console_hook(
    const LogSection& log);  // step lines or the progress bar, and the summary
std::unique_ptr<Hook> make_metrics_hook(const LogSection& log);  // metrics.jsonl
std::unique_ptr<Hook> make_tensorboard_hook(const LogSection& log);
std::unique_ptr<Hook> make_evaluation_hook(const EvalSection& eval);
std::unique_ptr<Hook> make_checkpoint_hook(const CheckpointSection& checkpoint);
std::unique_ptr<Hook> make_stop_hook();  // signals and the time limit

}  // namespace shoal
