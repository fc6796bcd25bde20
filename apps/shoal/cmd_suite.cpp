#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "data/dataset.h"
#include "model/estimate.h"
#include "shoal/build_info.h"
#include "shoal/commands.h"
#include "shoal/spec_words.h"
#include "spec/suite.h"
#include "train/ranks.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace shoal {
namespace {

Suite suite_of(const Invocation& given, Inputs inputs) {
  Suite suite = load_suite(given.all("SPEC"), given.all("KEY=VALUE"), inputs);
  const std::vector<std::string> only = given.all("--only");
  for (const std::string& name : only) {
    const auto is_it = [&](const SuiteRun& run) { return run.name == name; };
    if (std::none_of(suite.runs.begin(), suite.runs.end(), is_it))
      user_error("--only: there is no run {}", name);
  }
  std::erase_if(suite.runs, [&](const SuiteRun& run) {
    return !only.empty() && std::find(only.begin(), only.end(), run.name) == only.end();
  });
  return suite;
}

int show(const Invocation& given) {
  const Suite suite = suite_of(given, Inputs::unchecked);
  fmt::print("suite {}: {} runs\n{:<28}  {:>8}  {:>8}  {:>12}  {}\n", suite.name, suite.runs.size(), "run",
             "steps", "seed", "tokens", "folder");
  for (const SuiteRun& run : suite.runs) {
    const RunSpec& spec = run.loaded.spec;
    const int64_t tokens = spec.run.steps * spec.batch.global * spec.data.seq_length;
    fmt::print("{:<28}  {:>8}  {:>8}  {:>12}  {}\n", run.name, spec.run.steps, spec.run.seed,
               format_count(double(tokens)), run_folder_path(spec));
  }
  return 0;
}

int train_all(const Invocation& given, const MpiSession* session) {
  const Suite suite = suite_of(given, Inputs::checked);
  for (size_t i = 0; i < suite.runs.size(); ++i) {
    const SuiteRun& run = suite.runs[i];
    Runtime runtime(run.loaded.spec, session);
    Log log(!runtime.first_rank());
    log.info("== {} ({} of {})", run.name, i + 1, suite.runs.size());
    RunFolder folder(run_folder_path(run.loaded.spec), runtime.world());
    Trainer trainer(run.loaded, runtime, folder, log, build_report());
    if (const ExitCode code = trainer.run(); code != ExitCode::done) return int(code);
  }
  return 0;
}

int train(const Invocation& given) {
  return on_ranks([&](const MpiSession* session) { return train_all(given, session); });
}

}  // namespace

Command suite_command() {
  const Flag only{.name = "--only", .value = "NAME", .doc = "Only this run of the suite.", .repeated = true};
  Command group{.name = "suite", .summary = "train several sizes on the same batches, from one spec"};
  group.commands = {
      {.name = "show",
       .summary = "list the runs of a suite",
       .description = "A spec with a section suite stands for sizes x data variants x seeds. Runs of one "
                      "data variant see "
                      "the same batch in each step: seeds change the weights only.",
       .arguments = spec_arguments(),
       .flags = {only},
       .examples = {{"shoal suite show configs/suite.yaml", ""}},
       .run = show},
      {.name = "train",
       .summary = "train the runs of a suite, one after the other",
       .description = "Each run has a folder in the suite's, and is resumed like any run: the same command "
                      "again goes on "
                      "where it stopped. `shoal ckpt ls` of the suite's folder shows what all have saved.",
       .arguments = spec_arguments(),
       .flags = {only},
       .examples = {{"shoal suite train configs/suite.yaml", ""},
                    {"shoal suite train configs/suite.yaml --only small",
                     "One of them, on another machine."}},
       .run = train}};
  return group;
}

}  // namespace shoal
