#include "train/checkpoints.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "optim/clip.h"
#include "train/gathered_state.h"
#include "train/ranks.h"

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

// Whole slabs as they are, a range of a flattened block as the rectangles that it is made of.
void add_parts(const StateTensor& tensor, const Parameter* parameter, std::vector<StateTensor>& to) {
  if (parameter == nullptr || parameter->owned.count == parameter->block_size()) {
    to.push_back(tensor);
    return;
  }
  auto* values = static_cast<float*>(tensor.data.data);
  for (const Slab& slab : slabs_of(parameter->slab, parameter->owned)) {
    to.push_back({tensor.name, tensor.shape, slab, View(values, DType::f32, slab.shape)});
    values += slab.shape.numel();
  }
}

// Parameters whose part this rank is the one to save, and their state.
std::vector<StateTensor> tensors_to_save(ParameterRegistry& parameters, Optimizer& optimizer,
                                         const Context& context) {
  std::vector<StateTensor> tensors;
  const auto saves = [&](const Parameter& p) {
    return counts_here(p, context) && (p.over_data || context.at[Axis::data] == 0);
  };
  for (Parameter& p : parameters.all()) {
    if (saves(p)) add_parts({"model/" + p.spec.name, p.spec.shape, p.slab, p.master}, &p, tensors);
  }
  for (OptimizerTensor& t : optimizer.state()) {
    const bool here = t.parameter != nullptr ? saves(*t.parameter)
                                             : context.at[Axis::data] == 0;  // state of whole matrices
    if (here) add_parts({t.name, t.shape, t.slab, t.value}, t.parameter, tensors);
  }
  return tensors;
}

}  // namespace

std::vector<StateTensor> weight_tensors(ParameterRegistry& parameters) {
  std::vector<StateTensor> tensors;
  for (Parameter& p : parameters.all()) {
    add_parts({"model/" + p.spec.name, p.spec.shape, p.slab, p.master}, &p, tensors);
  }
  return tensors;
}

std::vector<StateTensor> optimizer_tensors(Optimizer& optimizer) {
  std::vector<StateTensor> tensors;
  for (OptimizerTensor& t : optimizer.state())
    add_parts({t.name, t.shape, t.slab, t.value}, t.parameter, tensors);
  return tensors;
}

void restore_weights(CheckpointReader& checkpoint, ParameterRegistry& parameters, Context& context) {
  const std::vector<StateTensor> tensors = weight_tensors(parameters);
  check_tensors(checkpoint, tensors);
  for (const StateTensor& tensor : tensors) checkpoint.read(tensor);
  parameters.masters_changed(context);
}

Checkpoints::Checkpoints(const std::string& folder, const CheckpointSection& section, std::string spec_yaml,
                         Communicator& world, Log& log)
    : world_(world),
      background_(section.background),
      spec_yaml_(std::move(spec_yaml)),
      report_([&log](const std::string& line) { log.warning(line); }),
      store_(folder, retention_of(section)),
      saver_(store_, report_) {}

std::optional<CheckpointReader> Checkpoints::open_newest() const {
  // One rank sets damaged files aside; the others open what it has found.
  std::optional<CheckpointReader> newest =
      world_.rank() == 0 ? store_.open_newest(report_, true) : std::nullopt;
  if (world_.size() == 1) return newest;
  const std::string path = text_of_first(world_, newest ? newest->path() : "");
  if (!newest && !path.empty()) newest.emplace(path);
  return newest;
}

void Checkpoints::save(const TrainState& state, const std::map<std::string, std::string>& strings,
                       ParameterRegistry& parameters, Optimizer& optimizer, Context& context) {
  CheckpointInfo info{state.step, state.consumed, spec_yaml_, strings};
  info.strings[trainer_key] = nlohmann::json{{"updates", state.updates}}.dump();
  const GatheredState gathered(tensors_to_save(parameters, optimizer, context), world_);
  if (world_.rank() == 0) {
    if (background_) {
      saver_.save(info, gathered.tensors(), context.device);
    } else {
      saver_.save_now(info, gathered.tensors());
    }
  }
  last_step_ = state.step;
}

TrainState Checkpoints::restore(CheckpointReader& checkpoint, ParameterRegistry& parameters,
                                Optimizer& optimizer, Context& context) {
  const std::vector<StateTensor> tensors = optimizer_tensors(optimizer);
  check_tensors(checkpoint, tensors);
  restore_weights(checkpoint, parameters, context);
  for (const StateTensor& tensor : tensors) checkpoint.read(tensor);
  const CheckpointInfo& info = checkpoint.info();
  TrainState state{info.step, info.step, info.consumed_samples};
  if (const auto found = info.strings.find(trainer_key); found != info.strings.end()) {
    state.updates = nlohmann::json::parse(found->second).at("updates").get<int64_t>();
  }
  last_step_ = info.step;
  return state;
}

}  // namespace shoal
