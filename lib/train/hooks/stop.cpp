#include "train/hooks.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class StopHook final : public Hook {
 public:
  void on_start(Trainer& trainer) override { poll(trainer); }
  void after_step(Trainer& trainer, const StepRecord&) override { poll(trainer); }
  void on_stop(Trainer& trainer) override {
    if (trainer.exit_code() == ExitCode::stopped) {
      trainer.log().info("stopping after step {}: {}", trainer.state().step, trainer.stop_reason());
    }
  }

 private:
  static void poll(Trainer& trainer) {
    if (trainer.stop_requested()) trainer.stop(ExitCode::stopped);
  }
};

}  // namespace

std::unique_ptr<Hook> make_stop_hook() {
  return std::make_unique<StopHook>();
}

}  // namespace shoal
