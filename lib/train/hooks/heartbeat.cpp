#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "train/hooks.h"
#include "train/trainer.h"

namespace shoal {

namespace {

// One line of fixed length, written in place: a watchdog reads it whole, and a full disk cannot stop it.
class HeartbeatHook final : public Hook {
 public:
  ~HeartbeatHook() override {
    if (file_ >= 0) ::close(file_);
  }

  void on_start(Trainer& trainer) override {
    const std::string path = trainer.folder().file("heartbeat.json");
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) runtime_failure("cannot write {}: {}", path, std::strerror(errno));
    beat(trainer, "start");
  }
  void on_phase(Trainer& trainer, const char* phase) override {
    // Steps can be short: at most ten beats a second for one after the other.
    const bool recent = Clock::now() - last_ < std::chrono::milliseconds(100);
    if (recent && std::strcmp(phase, phase_) == 0) return;
    beat(trainer, phase);
  }
  void close(Trainer& trainer) override {
    beat(trainer, trainer.exit_code() == ExitCode::done ? "done" : "stopped");
  }

 private:
  using Clock = std::chrono::steady_clock;

  void beat(Trainer& trainer, const char* phase) {
    if (file_ < 0) return;
    last_ = Clock::now();
    phase_ = phase;
    const double time =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const std::string text =
        fmt::format("{{\"rank\":{},\"pid\":{},\"step\":{},\"phase\":\"{}\",\"time\":{:.3f}}}",
                    trainer.runtime().world().rank(), getpid(), trainer.state().step, phase, time);
    const std::string line = fmt::format("{:<126}\n", text);
    // A missed beat is no reason to end a run.
    [[maybe_unused]] const ssize_t written = pwrite(file_, line.data(), line.size(), 0);
  }

  int file_ = -1;
  Clock::time_point last_{};
  const char* phase_ = "";
};

}  // namespace

std::unique_ptr<Hook> make_heartbeat_hook() {
  return std::make_unique<HeartbeatHook>();
}

}  // namespace shoal
