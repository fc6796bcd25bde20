#include "train/start.h"

#include "checkpoint/store.h"
#include "spec/load.h"
#include "train/spec_changes.h"

namespace shoal {

namespace {

RunSpec spec_of(const CheckpointReader& checkpoint) {
  return parse_spec(checkpoint.info().spec_yaml, checkpoint.path(), {}).spec;
}

void check_resume(const RunSpec& spec, const CheckpointReader& checkpoint, Log& log) {
  const std::vector<SpecChange> changes = result_changes(spec_of(checkpoint), spec);
  if (changes.empty()) return;
  if (!spec.run.allow_changes) {
    throw UserError(
        Problem{.what = "the spec differs from the run's in keys that change the result:" + to_text(changes),
                .where = checkpoint.path(),
                .value = "",
                .allowed = "",
                .hint = "give the new run its own run.dir, with run.branch (whole state) or run.fork "
                        "(weights) naming this one; or set run.allow_changes=true. Another "
                        "run.steps is fine where schedule.decay_steps keeps the schedule"});
  }
  log.warn("resuming with keys that change the result:{}", to_text(changes));
}

void check_shapes(const RunSpec& spec, const CheckpointReader& checkpoint) {
  const std::vector<SpecChange> changes = shape_changes(spec_of(checkpoint), spec);
  if (changes.empty()) return;
  throw UserError(Problem{.what = "the checkpoint belongs to another model or optimizer:" + to_text(changes),
                          .where = checkpoint.path(),
                          .value = "",
                          .allowed = "the same model.* and optimizer.name",
                          .hint = ""});
}

}  // namespace

Start choose_start(const RunSpec& spec, const RunFolder& folder, const Checkpoints& checkpoints, Log& log) {
  const RunSection& run = spec.run;
  if (run.resume == "never" && folder.holds_run()) {
    throw UserError(
        Problem{.what = "the run folder holds a run already",
                .where = "run.dir",
                .value = folder.path(),
                .allowed = "an empty or a new folder, because of run.resume: never",
                .hint = "name another run.dir, remove the folder, or set run.resume=if_available"});
  }
  if (std::optional<CheckpointReader> newest = checkpoints.open_newest()) {
    check_resume(spec, *newest, log);
    return {StartMode::resume, std::move(newest)};
  }
  if (run.resume == "always") {
    throw UserError(Problem{.what = "there is no checkpoint to resume from",
                            .where = "run.resume",
                            .value = "always",
                            .allowed = "",
                            .hint = folder.path() + " has none; run.resume=if_available starts a new run"});
  }
  const Report report = [&log](const std::string& line) { log.warning(line); };
  if (!run.fork.empty()) return {StartMode::fork, open_checkpoint(run.fork, report)};
  if (!run.branch.empty()) {
    Start start{StartMode::branch, open_checkpoint(run.branch, report)};
    check_shapes(spec, *start.checkpoint);
    return start;
  }
  return {};
}

}  // namespace shoal
