#include "layers/replicas.h"
#include "train/hooks.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class ReplicasHook final : public Hook {
 public:
  explicit ReplicasHook(int64_t every) : every_(every) {}

  void after_step(Trainer& trainer, const StepRecord& record) override {
    Runtime& runtime = trainer.runtime();
    if (record.step % every_ != 0 || runtime.world().size() == 1) return;
    const auto lines = replica_differences(trainer.model().parameters(), runtime.context(), runtime.world());
    if (lines.empty()) return;
    std::string text;
    for (size_t i = 0; i < lines.size() && i < max_lines; ++i) text += "\n  " + lines[i];
    if (lines.size() > max_lines) text += fmt::format("\n  and {} more", lines.size() - max_lines);
    runtime_failure(
        "after step {} the copies of {} weight{} differ between ranks; a checkpoint from before "
        "is the place to go on:{}",
        record.step, lines.size(), lines.size() == 1 ? "" : "s", text);
  }

 private:
  static constexpr size_t max_lines = 8;
  int64_t every_;
};

}  // namespace

std::unique_ptr<Hook> make_replicas_hook(int64_t every) {
  return std::make_unique<ReplicasHook>(every);
}

}  // namespace shoal
