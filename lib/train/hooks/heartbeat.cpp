#include <chrono>
#include <cstring>

#include "train/hooks.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class HeartbeatHook final : public Hook {
 public:
  void on_start(Trainer& trainer) override {
    Runtime& runtime = trainer.runtime();
    runtime.heartbeat().open(trainer.folder().path(), runtime.world().rank());
    beat(trainer, "start");
  }
  void on_phase(Trainer& trainer, const char* phase) override {
    // Steps can be short: one rank alone beats at most ten times a second for one after the other. Of several
    // ranks the step tells who is behind.
    const bool recent = Clock::now() - last_ < std::chrono::milliseconds(100);
    if (recent && std::strcmp(phase, phase_) == 0 && trainer.runtime().world().size() == 1) return;
    beat(trainer, phase);
  }
  void close(Trainer& trainer) override {
    beat(trainer, trainer.exit_code() == ExitCode::done ? "done" : "stopped");
  }

 private:
  using Clock = std::chrono::steady_clock;

  void beat(Trainer& trainer, const char* phase) {
    last_ = Clock::now();
    phase_ = phase;
    trainer.runtime().heartbeat().beat(trainer.state().step, phase);
  }

  Clock::time_point last_{};
  const char* phase_ = "";
};

}  // namespace

std::unique_ptr<Hook> make_heartbeat_hook() {
  return std::make_unique<HeartbeatHook>();
}

}  // namespace shoal
