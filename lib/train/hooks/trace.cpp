#include <chrono>
#include <string>

#include "train/hooks.h"
#include "train/trace_files.h"
#include "train/trainer.h"

namespace shoal {

namespace {

// Records a window of steps and writes it at its end, or when the run stops within it.
class TraceHook final : public Hook {
 public:
  explicit TraceHook(const TraceSection& section) : section_(section) {}

  void on_start(Trainer& trainer) override { begin_ = trainer.state().step + section_.first; }
  void on_phase(Trainer& trainer, const char* phase) override {
    end_phase(trainer);
    phase_ = phase;
    phase_start_ = part_start_ = Clock::now();
  }
  void before_step(Trainer& trainer) override {
    const int64_t step = trainer.state().step + 1;
    const bool traced = !written_ && step >= begin_ && step < begin_ + section_.steps;
    trainer.runtime().timeline()->record(traced);
    began_ = began_ || traced;
  }
  void before_update(Trainer& trainer, StepRecord&) override { end_part(trainer, "forward and backward"); }
  void after_step(Trainer& trainer, const StepRecord& record) override {
    end_part(trainer, "update");
    end_phase(trainer);
    if (record.step + 1 == begin_ + section_.steps) write(trainer);
  }
  void on_stop(Trainer& trainer) override { write(trainer); }

 private:
  using Clock = std::chrono::steady_clock;

  void end_part(Trainer& trainer, const char* name) {
    trainer.runtime().timeline()->add(name, part_start_, Clock::now());
    part_start_ = Clock::now();
  }
  void end_phase(Trainer& trainer) {
    if (!phase_.empty()) trainer.runtime().timeline()->add(phase_, phase_start_, Clock::now());
    phase_.clear();
  }
  void write(Trainer& trainer) {
    if (written_ || !began_) return;
    Runtime& runtime = trainer.runtime();
    runtime.timeline()->record(false);
    write_trace(*runtime.timeline(), runtime.world(), runtime.context().grid, trainer.folder());
    written_ = true;
    trainer.log().info("wrote {} and {}", trainer.folder().file("trace.json"),
                       trainer.folder().file("trace.csv"));
    if (const int64_t left_out = runtime.timeline()->left_out(); left_out > 0 && runtime.first_rank()) {
      trainer.log().warn("the trace lacks its last {} spans; trace.max_spans is {}", left_out,
                         section_.max_spans);
    }
  }

  TraceSection section_;
  int64_t begin_ = 0;
  bool began_ = false, written_ = false;
  std::string phase_;
  Clock::time_point phase_start_, part_start_;
};

}  // namespace

std::unique_ptr<Hook> make_trace_hook(const TraceSection& trace) {
  return std::make_unique<TraceHook>(trace);
}

}  // namespace shoal
