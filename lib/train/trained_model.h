// A model from a checkpoint, for evaluation and generation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "model/decoder.h"
#include "spec/run_spec.h"
#include "train/runtime.h"

namespace shoal {

class TrainedModel {
 public:
  // path: a checkpoint or a run folder, of which the newest good checkpoint is taken. The spec is the one
  // stored in it, with overrides ("precision.compute=f32"). Throws UserError.
  TrainedModel(const std::string& path, const std::vector<std::string>& overrides, Log& log);

  const RunSpec& spec() const { return spec_; }
  const std::string& checkpoint() const { return checkpoint_; }
  int64_t step() const { return step_; }
  Decoder& model() { return *model_; }
  Context& context() { return runtime_->context(); }

 private:
  RunSpec spec_;
  std::string checkpoint_;
  int64_t step_ = 0;
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Decoder> model_;
};

}  // namespace shoal
