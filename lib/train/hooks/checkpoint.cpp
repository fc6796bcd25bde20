#include "checkpoint/store.h"
#include "train/hooks.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class CheckpointHook final : public Hook {
 public:
  explicit CheckpointHook(const CheckpointSection& section) : section_(section) {}

  void on_start(Trainer& trainer) override {
    if (trainer.state().step == 0 && section_.schedule == "pythia") trainer.save();
  }
  void after_step(Trainer& trainer, const StepRecord& record) override {
    trainer.check_saver();
    if (trainer.exit_code() != ExitCode::numerics && due(record.step)) trainer.save();
  }
  void on_stop(Trainer& trainer) override {
    const bool finished = trainer.exit_code() == ExitCode::done;
    if (trainer.exit_code() == ExitCode::stopped || (finished && section_.save_final)) trainer.save();
  }

 private:
  bool due(int64_t step) const {
    if (section_.every > 0 && step % section_.every == 0) return true;
    if (section_.keep_every > 0 && step % section_.keep_every == 0) return true;
    return section_.schedule == "pythia" && in_pythia_schedule(step);
  }

  CheckpointSection section_;
};

}  // namespace

std::unique_ptr<Hook> make_checkpoint_hook(const CheckpointSection& checkpoint) {
  return std::make_unique<CheckpointHook>(checkpoint);
}

}  // namespace shoal
