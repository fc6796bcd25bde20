// A run's state as checkpoint tensors, saved to and restored from the folder of its checkpoints.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/saver.h"
#include "checkpoint/store.h"
#include "model/decoder.h"
#include "optim/optimizer.h"
#include "spec/run_spec.h"
#include "train/train_state.h"

namespace shoal {

// "model/<name>" for every parameter: the part that this rank owns, in place.
std::vector<StateTensor> weight_tensors(ParameterRegistry& parameters, const Context& context);
// The same for the optimizer's state, under its own names.
std::vector<StateTensor> optimizer_tensors(Optimizer& optimizer, const Context& context);

// Reads the weights of a checkpoint into a model. Throws UserError if it holds other tensors than the model
// has.
void restore_weights(CheckpointReader& checkpoint, ParameterRegistry& parameters, Context& context);

class Checkpoints {
 public:
  // spec_yaml: the resolved spec, stored in each checkpoint. Everything here but last_step is
  // collective over the world.
  Checkpoints(const std::string& folder, const CheckpointSection& section, std::string spec_yaml,
              Communicator& world, Log& log);

  // Before the first save: creates the folder, removes what killed writers left.
  void prepare() const { store_.prepare(); }

  // The newest checkpoint that is whole; damaged newer ones are reported and set aside. Throws RuntimeFailure
  // if all are damaged.
  std::optional<CheckpointReader> open_newest() const;

  // Takes a snapshot and writes it in the background (checkpoint.background), or writes it at once. Throws
  // what went wrong with an earlier one.
  void save(const TrainState& state, const std::map<std::string, std::string>& strings,
            ParameterRegistry& parameters, Optimizer& optimizer, Context& context);
  void poll() { saver_.poll(); }    // throws what went wrong in the background
  void finish() { saver_.wait(); }  // waits until everything is on disk; throws what went wrong

  // The step of the last checkpoint that was saved or restored here; -1: none.
  int64_t last_step() const { return last_step_; }

  // Reads weights, optimizer state and, in the result, the rest.
  TrainState restore(CheckpointReader& checkpoint, ParameterRegistry& parameters, Optimizer& optimizer,
                     Context& context);

 private:
  bool background_;
  std::string spec_yaml_;
  Report report_;
  CheckpointStore store_;
  CheckpointSaver saver_;
  int64_t last_step_ = -1;
};

}  // namespace shoal
