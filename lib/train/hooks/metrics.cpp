#include "train/hooks.h"
#include "train/metrics_file.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class MetricsHook final : public Hook {
 public:
  explicit MetricsHook(const LogSection& section) : section_(section) {}

  void on_start(Trainer& trainer) override {
    file_ = std::make_unique<MetricsFile>(trainer.folder().file("metrics.jsonl"), trainer.state().step);
  }
  void after_step(Trainer& trainer, const StepRecord& record) override {
    if (is_logged(section_, record, trainer.spec().run.steps)) file_->append(to_json(record));
  }
  void on_eval(Trainer&, const EvalRecord& record) override { file_->append(to_json(record)); }
  void on_rollback(Trainer&, int64_t step) override { file_->truncate(step); }

 private:
  LogSection section_;
  std::unique_ptr<MetricsFile> file_;
};

}  // namespace

std::unique_ptr<Hook> make_metrics_hook(const LogSection& log) {
  return std::make_unique<MetricsHook>(log);
}

bool is_logged(const LogSection& log, const StepRecord& record, int64_t steps) {
  return record.step % log.every == 0 || record.step == 1 || record.step == steps || !record.applied;
}

}  // namespace shoal
