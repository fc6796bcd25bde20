#include <optional>

#include "train/event_file.h"
#include "train/hooks.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class TensorBoardHook final : public Hook {
 public:
  explicit TensorBoardHook(const LogSection& section) : section_(section) {}

  void on_start(Trainer& trainer) override {
    file_.emplace(trainer.folder().file("tb"), trainer.state().step);
  }
  void after_step(Trainer& trainer, const StepRecord& record) override {
    if (!is_logged(section_, record, trainer.spec().run.steps)) return;
    std::vector<std::pair<std::string_view, double>> values{
        {"train/loss", record.loss},
        {"train/grad_norm", record.grad_norm},
        {"train/lr", record.lr},
        {"speed/step_ms", record.seconds * 1e3},
        {"speed/tokens_per_second", record.tokens_per_second}};
    if (record.mfu > 0) values.emplace_back("speed/mfu", record.mfu);
    if (record.masked) {
      values.emplace_back("train/loss_plain", record.loss_plain);
      values.emplace_back("train/loss_dropped", record.loss_dropped);
    }
    file_->scalars(record.step, values);
  }
  void on_eval(Trainer&, const EvalRecord& record) override {
    const std::pair<std::string_view, double> value{"valid/loss", record.loss};
    file_->scalars(record.step, {&value, 1});
  }
  void on_rollback(Trainer&, int64_t step) override { file_->truncate(step); }

 private:
  LogSection section_;
  std::optional<EventFile> file_;
};

}  // namespace

std::unique_ptr<Hook> make_tensorboard_hook(const LogSection& log) {
  return std::make_unique<TensorBoardHook>(log);
}

}  // namespace shoal
