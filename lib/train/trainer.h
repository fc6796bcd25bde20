// The training loop and what it works on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "model/decoder.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "spec/load.h"
#include "train/batch_gradient.h"
#include "train/checkpoints.h"
#include "train/hook.h"
#include "train/run_folder.h"
#include "train/runtime.h"
#include "train/start.h"
#include "train/stop.h"
#include "train/train_data.h"
#include "train/train_state.h"

namespace shoal {

class Trainer {
 public:
  // Builds model, data, optimizer and hooks; restores, forks or initialises the state as the spec says; then
  // describes the run in its folder. Throws UserError for what cannot start. All arguments but the report,
  // which is for env.json, outlive the trainer. On a grid everything here is collective.
  Trainer(const LoadedSpec& loaded, Runtime& runtime, RunFolder& folder, Log& log,
          const std::string& build_report);
  ~Trainer();

  // A hook that is called after the standard ones; before run().
  void add(std::unique_ptr<Hook> hook) { hooks_.push_back(std::move(hook)); }

  // Trains to run.steps, or until a hook asks to stop. Returns done, stopped or numerics.
  ExitCode run();

  // What follows is for hooks.
  const RunSpec& spec() const { return loaded_.spec; }
  const TrainState& state() const { return state_; }
  const RunFolder& folder() const { return folder_; }
  Log& log() { return log_; }
  Runtime& runtime() { return runtime_; }
  Decoder& model() { return *model_; }
  bool has_validation() const { return valid_ != nullptr; }

  // True on all ranks once a signal came or the time is up on any; collective.
  bool stop_requested() { return stop_poll_.poll(); }
  const std::string& stop_reason() const { return stop_poll_.reason(); }
  // Ends the loop after the current step. The first call counts.
  void stop(ExitCode code);
  ExitCode exit_code() const { return exit_code_; }  // done while nothing has asked to stop

  // Evaluates the validation split and tells the hooks. False if a stop request cut it short.
  bool evaluate();
  // Hands the state to the saver, unless there is a checkpoint of this step already.
  void save();
  // Throws what went wrong in the background.
  void check_saver() { checkpoints_.poll(); }
  // Restores the newest checkpoint; the data goes on behind the batch in hand. False if there is no
  // checkpoint.
  bool roll_back();

 private:
  void take(Start& start);

  StepRecord forward_backward();
  void apply_update(const StepRecord& record);
  void finish(StepRecord& record, double seconds);
  void restore(CheckpointReader& checkpoint);
  void phase(const char* name);

  template <typename Point, typename... Args>
  void each(Point point, Args&&... args) {
    for (auto& hook : hooks_) (hook.get()->*point)(*this, args...);
  }

  const LoadedSpec& loaded_;
  RunFolder& folder_;
  Log& log_;
  Runtime& runtime_;
  StopPoll stop_poll_;
  std::unique_ptr<Decoder> model_;
  std::unique_ptr<Optimizer> optimizer_;
  Schedule schedule_;
  BatchGradient gradient_;
  TrainData data_;
  std::unique_ptr<SampleSource> valid_;
  Checkpoints checkpoints_;
  std::vector<std::unique_ptr<Hook>> hooks_;

  TrainState state_;
  ExitCode exit_code_ = ExitCode::done;
  bool rolled_back_ = false;
  double peak_flops_ = 0;  // 0: unknown
};

}  // namespace shoal
