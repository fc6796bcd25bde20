#include "base/log.h"
#include "shoal/build_info.h"
#include "shoal/commands.h"
#include "shoal/spec_words.h"
#include "train/ranks.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace shoal {
namespace {

int train(const Invocation& given) {
  return on_ranks([&](const MpiSession* session) {
    const LoadedSpec loaded = spec_of(given, Inputs::checked);
    Runtime runtime(loaded.spec, session);
    RunFolder folder(run_folder_path(loaded.spec), runtime.world());
    Log log(!runtime.first_rank());

    Trainer trainer(loaded, runtime, folder, log, build_report());
    return int(trainer.run());
  });
}

}  // namespace

Command train_command() {
  return {
      .name = "train",
      .summary = "train a model, or resume training",
      .description =
          "Trains as the spec says and keeps everything in the run folder: checkpoints, metrics.jsonl, "
          "TensorBoard "
          "events, the resolved spec. Running the same command again resumes from the newest good "
          "checkpoint. SIGTERM, "
          "SIGUSR1, Ctrl-C and run.time_limit_minutes save a checkpoint and exit with code 75; a second "
          "signal exits at "
          "once. Exit codes: 0 done, 1 failure, 2 a mistake in the spec, 3 the loss diverged, 75 stopped "
          "early. With parallel.* above 1 it is started once for each rank, by mpiexec or srun.",
      .arguments = spec_arguments(),
      .examples = {{"shoal train configs/demo.yaml", "Train, or go on where the last run stopped."},
                   {"shoal train configs/demo.yaml run.name=lr3 optimizer.lr=3e-3",
                    "Another run, with one key changed."},
                   {"shoal train configs/demo.yaml run.name=cool run.branch=runs/demo schedule.name=wsd",
                    "Go on from another run's state under another schedule."},
                   {"mpiexec -n 4 shoal train configs/demo.yaml parallel.data=2 parallel.z=2 batch.micro=1",
                    "The same run on four ranks."}},
      .run = train};
}

}  // namespace shoal
