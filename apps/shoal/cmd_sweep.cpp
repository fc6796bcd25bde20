#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/units.h"
#include "base/whole_file.h"
#include "model/estimate.h"
#include "shoal/commands.h"
#include "shoal/spec_words.h"
#include "sweep/run_state.h"
#include "sweep/runner.h"
#include "train/build_model.h"
#include "train/signals.h"

namespace shoal {
namespace {

Sweep sweep_of(const Invocation& given, Inputs inputs) {
  return load_sweep(given.all("SPEC"), given.all("KEY=VALUE"), inputs);
}

int expand(const Invocation& given) {
  const Sweep sweep = sweep_of(given, Inputs::unchecked);
  double flops = 0;
  for (const SweepRun& run : sweep.runs) {
    flops += work_of(run) * 10e9;
    fmt::print("{}", run.name);
    for (const auto& [key, value] : run.varied) fmt::print("  {}={}", key, value);
    if (run.parent >= 0) fmt::print("  from {}", sweep.runs[size_t(run.parent)].name);
    fmt::print("\n");
  }
  fmt::print("{} runs in {}, {:.3g} FLOPs: about {} at 100 GFLOP/s\n", sweep.runs.size(), sweep.dir, flops,
             format_duration(flops / 100e9));
  return 0;
}

int run(const Invocation& given) {
  const Sweep sweep = sweep_of(given, Inputs::checked);
  StopSignals signals;
  RunnerOptions options;
  options.jobs = int(given.integer("--jobs", 0, 1, 4096));
  options.memory = double(given.integer("--memory-gb", 0, 1)) * 1e9;
  options.retry = given.has("--retry");
  options.program = std::filesystem::read_symlink("/proc/self/exe").string();
  options.stop = [] { return StopSignals::received() != 0; };
  options.say = [](const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  const SweepOutcome outcome = run_sweep(sweep, options);
  fmt::print("{} of {} done, {} failed, {} stopped, {} not started\n", outcome.done, sweep.runs.size(),
             outcome.failed, outcome.stopped, outcome.blocked);
  if (StopSignals::received() != 0) return int(ExitCode::stopped);
  return int(outcome.done == int(sweep.runs.size()) ? ExitCode::done : ExitCode::failure);
}

int status(const Invocation& given) {
  const Sweep sweep = sweep_of(given, Inputs::unchecked);
  constexpr const char* names[] = {"waiting", "stopped", "failed", "done"};
  for (const SweepRun& run : sweep.runs) {
    const RunState state = state_of(sweep, run);
    fmt::print("{:<8} {}", names[size_t(state.phase)], run.name);
    if (state.phase == RunPhase::failed) fmt::print(": exit code {}: {}", state.exit_code, state.reason);
    fmt::print("\n");
  }
  return 0;
}

int collect(const Invocation& given) {
  const Sweep sweep = sweep_of(given, Inputs::unchecked);
  const std::string csv = collect_csv(sweep, {.model = model_of,
                                              .every_evaluation = given.has("--every-evaluation"),
                                              .partial = given.has("--partial")});
  const std::string path = given.text("--output", sweep.dir + "/table.csv");
  write_whole_file(path, csv);
  fmt::print("{}\n", path);
  return 0;
}

}  // namespace

Command sweep_command() {
  Command group{.name = "sweep",
                .summary = "many runs from one spec: learning rates, shapes, seeds, cooldowns",
                .description = "A spec with a section sweep stands for many runs (docs/sweeps.md)."};
  group.commands = {
      {.name = "expand",
       .summary = "list the runs of a sweep",
       .arguments = spec_arguments(),
       .examples = {{"shoal sweep expand configs/sweep.yaml", ""}},
       .run = expand},
      {.name = "run",
       .summary = "train what is not done yet, side by side",
       .description = "Each run is a process and a run folder of its own. Run it again to go on: what is "
                      "done is left alone, "
                      "what was stopped is resumed. Failed runs are listed with their reason, and tried "
                      "again with --retry. "
                      "A signal lets the runs save, and the command ends with 75.",
       .arguments = spec_arguments(),
       .flags =
           {{.name = "--jobs", .value = "N", .doc = "Runs at a time; the cores / run.threads if not given."},
            {.name = "--memory-gb",
             .value = "N",
             .doc = "What all may need together, by estimate; nine tenths of the machine's if not given."},
            {.name = "--retry", .doc = "Try failed runs again."}},
       .examples = {{"shoal sweep run configs/sweep.yaml --jobs 2", ""}},
       .run = run},
      {.name = "status",
       .summary = "what has become of the runs",
       .arguments = spec_arguments(),
       .examples = {{"shoal sweep status configs/sweep.yaml", ""}},
       .run = status},
      {.name = "collect",
       .summary = "one table of all runs, for shoal fit",
       .description =
           "A row a run: parameters, width, depth, tokens, FLOPs, the last validation loss, and what the "
           "sweep varies.",
       .arguments = spec_arguments(),
       .flags = {{.name = "--output",
                  .value = "FILE",
                  .doc = "table.csv in the sweep's folder if not given."},
                 {.name = "--every-evaluation", .doc = "A row for each evaluation, not only the last."},
                 {.name = "--partial", .doc = "Leave out runs that are not done."}},
       .examples = {{"shoal sweep collect configs/sweep.yaml", "Then: shoal fit runs/sweep/table.csv"}},
       .run = collect}};
  return group;
}

}  // namespace shoal
