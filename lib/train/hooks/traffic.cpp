#include <fstream>

#include "train/hooks.h"
#include "train/traffic_report.h"
#include "train/trainer.h"

namespace shoal {

namespace {

// The first rank's ledger from the first step of this start to the last, written at the end. What was sent
// before the first step (self-tests, restored weights) does not count.
class TrafficHook final : public Hook {
 public:
  void before_step(Trainer& trainer) override {
    if (steps_ == 0) trainer.runtime().traffic().clear();
  }
  void after_step(Trainer&, const StepRecord& record) override {
    ++steps_;
    seconds_ += record.seconds;
  }
  void on_stop(Trainer& trainer) override {
    Runtime& runtime = trainer.runtime();
    if (runtime.world().size() == 1 || !runtime.first_rank() || steps_ == 0) return;
    const TrafficSummary summary{runtime.context().grid, runtime.world().rank(), steps_, seconds_};
    for (const std::string& line : traffic_lines(summary, runtime.traffic()))
      trainer.log().line("traffic      " + line);
    const std::string path = trainer.folder().file("traffic.json");
    std::ofstream file(path, std::ios::binary);
    file << to_json(summary, runtime.traffic());
    file.close();
    if (!file) trainer.log().warn("cannot write {}", path);
  }

 private:
  int64_t steps_ = 0;
  double seconds_ = 0;
};

}  // namespace

std::unique_ptr<Hook> make_traffic_hook() {
  return std::make_unique<TrafficHook>();
}

}  // namespace shoal
