// Everything beside the step itself is a hook: the loop calls these points in the order of the list of hooks.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "train/records.h"

namespace shoal {

class Trainer;

class Hook {
 public:
  virtual ~Hook() = default;

  virtual void on_start(Trainer&) {}     // state is initialised or restored; state().step is where it starts
  virtual void before_step(Trainer&) {}  // before the batch is taken
  // Gradients, loss and norm are there, the weights are still old. A hook may set record.applied to false, or
  // roll the trainer back; then the later points of this step are not called.
  virtual void before_update(Trainer&, StepRecord&) {}
  virtual void after_step(Trainer&, const StepRecord&) {}
  virtual void on_phase(Trainer&, const char*) {}  // "step", "eval", "save": what the loop does next
  virtual void on_eval(Trainer&, const EvalRecord&) {}
  virtual void on_checkpoint(Trainer&, int64_t) {}  // the state of this step has been handed to the saver
  virtual void on_rollback(Trainer&, int64_t) {}    // the state is that of this earlier step again
  virtual void on_stop(Trainer&) {}                 // the loop has ended; saving is still possible
  virtual void close(Trainer&) {}                   // everything is saved

  // State that a resumed run needs, as text by name, kept in checkpoints.
  virtual void save_state(std::map<std::string, std::string>&) const {}
  virtual void load_state(const std::map<std::string, std::string>&) {}
};

}  // namespace shoal
