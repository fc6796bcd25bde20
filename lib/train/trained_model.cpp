#include "train/trained_model.h"

#include "checkpoint/store.h"
#include "spec/load.h"
#include "train/build_model.h"
#include "train/checkpoints.h"

namespace shoal {

TrainedModel::TrainedModel(const std::string& path, const std::vector<std::string>& overrides, Log& log) {
  CheckpointReader reader = open_checkpoint(path, [&log](const std::string& line) { log.warning(line); });
  spec_ = parse_spec(reader.info().spec_yaml, reader.path(), overrides).spec;
  // The grid of the run that made it says nothing about this process.
  spec_.parallel.x = spec_.parallel.y = spec_.parallel.z = spec_.parallel.data = 1;
  checkpoint_ = reader.path();
  step_ = reader.info().step;
  runtime_ = std::make_unique<Runtime>(spec_);
  model_ = build_model(spec_, runtime_->context());
  restore_weights(reader, model_->parameters(), runtime_->context());
}

}  // namespace shoal
