#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "train/hooks.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class EvaluationHook final : public Hook {
 public:
  explicit EvaluationHook(const EvalSection& section) : section_(section) {}

  // A run that was stopped within an evaluation does it first.
  void on_start(Trainer& trainer) override {
    if (trainer.state().step > 0) evaluate_if_due(trainer);
  }
  void after_step(Trainer& trainer, const StepRecord&) override { evaluate_if_due(trainer); }
  void on_rollback(Trainer&, int64_t step) override { evaluated_ = std::min(evaluated_, step); }

  void save_state(std::map<std::string, std::string>& strings) const override {
    strings["evaluation"] = std::to_string(evaluated_);
  }
  void load_state(const std::map<std::string, std::string>& strings) override {
    const auto found = strings.find("evaluation");
    if (found == strings.end()) return;
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), evaluated_);
  }

 private:
  void evaluate_if_due(Trainer& trainer) {
    const int64_t step = trainer.state().step;
    const bool due = step == trainer.spec().run.steps || (section_.every > 0 && step % section_.every == 0);
    if (!due || evaluated_ == step || trainer.exit_code() != ExitCode::done) return;
    if (trainer.evaluate()) evaluated_ = step;
  }

  EvalSection section_;
  int64_t evaluated_ = -1;  // the last step whose evaluation is complete
};

}  // namespace

std::unique_ptr<Hook> make_evaluation_hook(const EvalSection& eval) {
  return std::make_unique<EvaluationHook>(eval);
}

}  // namespace shoal
