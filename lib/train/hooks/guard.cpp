#include <algorithm>

#include "train/hooks.h"
#include "train/loss_guard.h"
#include "train/trainer.h"

namespace shoal {

namespace {

class GuardHook final : public Hook {
 public:
  explicit GuardHook(const GuardSection& section) : guard_(section) {}

  void before_update(Trainer& trainer, StepRecord& record) override {
    switch (guard_.judge(record.loss, record.grad_norm)) {
      case Verdict::good:
        return;
      case Verdict::skip:
        trainer.log().warn("step {}: {}; the update is skipped", record.step, guard_.reason());
        record.applied = false;
        return;
      case Verdict::rollback:
        if (trainer.roll_back()) {
          trainer.log().warn("step {}: {}; back to step {}, behind this batch", record.step, guard_.reason(),
                             trainer.state().step);
          return;
        }
        trainer.log().warn("step {}: there is no checkpoint to go back to", record.step);
        break;
      case Verdict::stop:
        break;
    }
    trainer.log().warn("step {}: {}; stopping. The last checkpoint is kept", record.step, guard_.reason());
    record.applied = false;
    trainer.stop(ExitCode::numerics);
  }

  void save_state(std::map<std::string, std::string>& strings) const override {
    strings["guard"] = guard_.to_json();
  }
  void load_state(const std::map<std::string, std::string>& strings) override {
    const auto found = strings.find("guard");
    if (found == strings.end()) return;
    const int64_t rollbacks = guard_.rollbacks();  // a rollback must not forget itself
    guard_.from_json(found->second);
    guard_.set_rollbacks(std::max(rollbacks, guard_.rollbacks()));
  }

 private:
  LossGuard guard_;
};

}  // namespace

std::unique_ptr<Hook> make_guard_hook(const GuardSection& guard) {
  return std::make_unique<GuardHook>(guard);
}

}  // namespace shoal
