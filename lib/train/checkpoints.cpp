#include "train/checkpoints.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace shoal {

namespace {

// The key of CheckpointInfo::strings that holds what TrainState has beyond the info's own fields.
constexpr const char* trainer_key = "trainer";

Retention retention_of(const CheckpointSection& section) {
  return {section.keep_last, section.keep_every, section.schedule == "pythia"};
}

void check_tensors(const CheckpointReader& checkpoint, const std::vector<StateTensor>& wanted) {
  for (const StateTensor& tensor : wanted) {
    const CheckpointReader::Entry* entry = checkpoint.find(tensor.name);
    if (entry != nullptr && entry->shape == tensor.shape) continue;
    throw UserError(Problem{.what = "the checkpoint does not fit the model",
                            .where = checkpoint.path(),
                            .value = entry == nullptr
                                         ? fmt::format("it has no tensor {}", tensor.name)
                                         : fmt::format("{} is {}", tensor.name, to_string(entry->shape)),
                            .allowed = fmt::format("{} {}", tensor.name, to_string(tensor.shape)),
                            .hint = "compare the spec with `shoal ckpt ls`"});
  }
}

// The part of a parameter's block that this rank owns, of the parameter itself or of state that is cut alike.
StateTensor owned_part(std::string name, const Parameter& p, const View& values, const Context& context) {
  return {std::move(name), p.spec.shape, p.slab,
          values,          p.owned,      replica_of(p.spec.shard, p.over_data, context.grid, context.at)};
}

}  // namespace

std::vector<StateTensor> weight_tensors(ParameterRegistry& parameters, const Context& context) {
  std::vector<StateTensor> tensors;
  for (const Parameter& p : parameters.all())
    tensors.push_back(owned_part("model/" + p.spec.name, p, p.master, context));
  return tensors;
}

std::vector<StateTensor> optimizer_tensors(Optimizer& optimizer, const Context& context) {
  std::vector<StateTensor> tensors;
  for (const OptimizerTensor& t : optimizer.state()) {
    if (t.parameter != nullptr) {
      tensors.push_back(owned_part(t.name, *t.parameter, t.value, context));
    } else {  // of whole matrices, which only data may replicate
      tensors.push_back(
          {t.name, t.shape, t.slab, t.value, {}, replica_of({}, false, context.grid, context.at)});
    }
  }
  return tensors;
}

void restore_weights(CheckpointReader& checkpoint, ParameterRegistry& parameters, Context& context) {
  const std::vector<StateTensor> tensors = weight_tensors(parameters, context);
  check_tensors(checkpoint, tensors);
  checkpoint.read(tensors);
  parameters.masters_changed(context);
}

Checkpoints::Checkpoints(const std::string& folder, const CheckpointSection& section, std::string spec_yaml,
                         Communicator& world, Log& log)
    : background_(section.background),
      spec_yaml_(std::move(spec_yaml)),
      report_([&log](const std::string& line) { log.warning(line); }),
      store_(folder, retention_of(section), world),
      saver_(store_, report_) {}

std::optional<CheckpointReader> Checkpoints::open_newest() const {
  return store_.open_newest(report_, true);
}

void Checkpoints::save(const TrainState& state, const std::map<std::string, std::string>& strings,
                       ParameterRegistry& parameters, Optimizer& optimizer, Context& context) {
  CheckpointInfo info{state.step, state.consumed, spec_yaml_, strings};
  info.strings[trainer_key] = nlohmann::json{{"updates", state.updates}}.dump();
  std::vector<StateTensor> tensors = weight_tensors(parameters, context);
  for (StateTensor& tensor : optimizer_tensors(optimizer, context)) tensors.push_back(std::move(tensor));
  if (background_) {
    saver_.save(info, tensors, context.device);
  } else {
    saver_.save_now(info, tensors);
  }
  last_step_ = state.step;
}

TrainState Checkpoints::restore(CheckpointReader& checkpoint, ParameterRegistry& parameters,
                                Optimizer& optimizer, Context& context) {
  const std::vector<StateTensor> tensors = optimizer_tensors(optimizer, context);
  check_tensors(checkpoint, tensors);
  restore_weights(checkpoint, parameters, context);
  checkpoint.read(tensors);
  const CheckpointInfo& info = checkpoint.info();
  TrainState state{info.step, info.step, info.consumed_samples};
  if (const auto found = info.strings.find(trainer_key); found != info.strings.end()) {
    state.updates = nlohmann::json::parse(found->second).at("updates").get<int64_t>();
  }
  last_step_ = info.step;
  return state;
}

}  // namespace shoal
