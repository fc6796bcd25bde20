// The hooks of every run, in the order in which they are called. The first rank alone keeps records.
#pragma once

#include <memory>
#include <vector>

#include "spec/run_spec.h"
#include "train/hook.h"

namespace shoal {

std::vector<std::unique_ptr<Hook>> standard_hooks(const RunSpec& spec, bool first_rank);

// Whether log.every lets a step through: each multiple, the first, the last, and skipped ones.
bool is_logged(const LogSection& log, const StepRecord& record, int64_t steps);

std::unique_ptr<Hook> make_heartbeat_hook();  // heartbeat.json: step, phase, time, last collective
std::unique_ptr<Hook> make_trace_hook(const TraceSection& trace);  // trace.json and trace.csv
std::unique_ptr<Hook> make_replicas_hook(int64_t every);           // equal weights where ranks hold copies
std::unique_ptr<Hook> make_traffic_hook();                         // traffic.json: bytes and time by label
std::unique_ptr<Hook> make_grid_hook();                            // says at start who is where in the grid
std::unique_ptr<Hook> make_guard_hook(const GuardSection& guard);  // losses that are not finite, or jump
std::unique_ptr<Hook> make_console_hook(
    const LogSection& log);  // step lines or the progress bar, and the summary
std::unique_ptr<Hook> make_metrics_hook(const LogSection& log);  // metrics.jsonl
std::unique_ptr<Hook> make_tensorboard_hook(const LogSection& log);
std::unique_ptr<Hook> make_evaluation_hook(const EvalSection& eval);
std::unique_ptr<Hook> make_checkpoint_hook(const CheckpointSection& checkpoint);
std::unique_ptr<Hook> make_stop_hook();  // signals and the time limit

}  // namespace shoal
