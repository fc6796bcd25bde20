#include <chrono>
#include <cmath>
#include <optional>

#include "base/units.h"
#include "train/hooks.h"
#include "train/step_line.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class ConsoleHook final : public Hook {
 public:
  explicit ConsoleHook(const LogSection& section) : section_(section) {}

  void on_start(Trainer& trainer) override {
    bar_ = section_.progress == "bar" || (section_.progress == "auto" && trainer.log().terminal());
    lines_ = section_.progress != "none" && !bar_;
    first_step_ = trainer.state().step;
    begin_ = Clock::now();
  }

  void after_step(Trainer& trainer, const StepRecord& record) override {
    speed_.add(record);
    trained_tokens_ += record.step_tokens;
    const int64_t steps = trainer.spec().run.steps;
    if (bar_) {
      // A terminal needs no more than ten updates a second.
      if (Clock::now() - shown_ < std::chrono::milliseconds(100) && record.step < steps) return;
      shown_ = Clock::now();
      trainer.log().status(progress_line(record, steps, speed_, trainer.log().width()));
    } else if (lines_ && is_logged(section_, record, steps)) {
      trainer.log().line(step_line(record, steps, speed_));
    }
  }

  void on_eval(Trainer& trainer, const EvalRecord& record) override {
    valid_ = record;
    if (section_.progress == "none") return;
    trainer.log().info("step {} | {} loss {:.4f} | perplexity {:.2f} | {} tokens in {:.1f} s", record.step,
                       record.split, record.loss, std::exp(record.loss), format_count(double(record.tokens)),
                       record.seconds);
  }

  void close(Trainer& trainer) override {
    trainer.log().status("");
    const int64_t steps = trainer.state().step - first_step_;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    std::string text =
        fmt::format("{} after step {}: {} steps, {} tokens in {}",
                    trainer.exit_code() == ExitCode::done ? "done" : "ended", trainer.state().step, steps,
                    format_count(double(trained_tokens_)), format_duration(seconds));
    if (steps > 0) text += fmt::format(", {} tok/s", format_count(speed_.average_tokens_per_second()));
    if (valid_) text += fmt::format("; {} loss {:.4f} at step {}", valid_->split, valid_->loss, valid_->step);
    trainer.log().line(text);
  }

 private:
  using Clock = std::chrono::steady_clock;
  LogSection section_;
  bool bar_ = false, lines_ = true;
  int64_t first_step_ = 0, trained_tokens_ = 0;
  SpeedMeter speed_;
  Clock::time_point begin_{}, shown_{};
  std::optional<EvalRecord> valid_;
};

}  // namespace

std::unique_ptr<Hook> make_console_hook(const LogSection& log) {
  return std::make_unique<ConsoleHook>(log);
}

}  // namespace shoal
