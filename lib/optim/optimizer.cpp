#include "optim/optimizer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "optim/adam_atan2.h"
#include "optim/adamw.h"
#include "optim/jorge.h"
#include "optim/muon.h"
#include "optim/sgd.h"

namespace shoal {

namespace {

// Jorge and Muon multiply whole matrices.
void check_whole_matrices(const OptimizerSection& section, const ParameterRegistry& parameters) {
  for (const Parameter& p : parameters.all()) {
    if (!is_weight_matrix(p.spec) || p.owned.count == p.spec.shape.numel()) continue;
    throw UserError(Problem{.what = "this optimizer needs whole matrices, and the grid cuts them",
                            .where = "optimizer.name",
                            .value = section.name,
                            .allowed = "adamw, adam-atan2 and sgd on this grid",
                            .hint = "use parallel.data alone, without parallel.shard_optimizer"});
  }
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSection& section, ParameterRegistry& parameters,
                                          const Context& context) {
  Ops& ops = context.ops;
  std::vector<Parameter*> all;
  for (Parameter& p : parameters.all()) all.push_back(&p);
  if (section.name == "muon" || section.name == "jorge") check_whole_matrices(section, parameters);
  if (section.name == "adamw") return std::make_unique<AdamW>(section, all, ops);
  if (section.name == "adam-atan2") return std::make_unique<AdamAtan2>(section, all, context);
  if (section.name == "sgd") return std::make_unique<Sgd>(section, all, ops);
  if (section.name == "muon") return std::make_unique<Muon>(section, all, ops);
  if (section.name == "jorge") return std::make_unique<Jorge>(section, all, ops);
  throw UserError(Problem{.what = "unknown optimizer",
                          .where = "optimizer.name",
                          .value = section.name,
                          .allowed = "adamw, adam-atan2, jorge, muon, sgd",
                          .hint = ""});
}

OptimizerTensor make_state(std::string_view kind, const Parameter& parameter, Ops& ops) {
  Tensor value(ops.device(), DType::f32, parameter.master.shape());
  ops.fill(value, 0.0f);
  return {fmt::format("optimizer/{}/{}", kind, parameter.spec.name),
          parameter.spec.shape,
          parameter.spec.shard,
          parameter.slab,
          value,
          &parameter};
}

View owned_copy(const Parameter& p) {
  if (p.compute.dtype() == DType::f32) return {};
  return p.compute.part(p.owned.begin - p.shard.begin, p.master.shape());
}

void update_compute_copy(const Parameter& parameter, Ops& ops) {
  const View copy = owned_copy(parameter);
  if (copy.data != nullptr) ops.cast(parameter.master, copy);
}

bool is_weight_matrix(const ParameterSpec& spec) {
  return spec.matrix && !spec.vocabulary;
}

double adamw_rate(const OptimizerSection& section, double lr) {
  return section.adamw_lr > 0 ? lr * (section.adamw_lr / section.lr) : lr;
}

std::vector<Parameter*> without_matrices(std::vector<Parameter*> parameters) {
  std::erase_if(parameters, [](const Parameter* p) { return is_weight_matrix(p->spec); });
  return parameters;
}

View as_matrix(const View& view, const ParameterSpec& spec) {
  int64_t rows = 1;
  for (int i = 0; i < spec.output_dims; ++i) rows *= view.dim(i);
  return view.reshape({rows, view.numel() / rows});
}

bool decays(const OptimizerSection& section, const ParameterSpec& parameter) {
  if (section.weight_decay == 0 || section.decay == "none") return false;
  return section.decay == "all" || parameter.decay;
}

std::string describe_decay(const OptimizerSection& section, const std::vector<Parameter*>& parameters) {
  int64_t tensors[2] = {0, 0}, elements[2] = {0, 0};
  for (const Parameter* p : parameters) {
    const int kind = decays(section, p->spec) ? 1 : 0;
    ++tensors[kind];
    elements[kind] += p->spec.shape.numel();
  }
  if (tensors[1] == 0) return "no weight decay";
  const auto size = [](int64_t n) { return format_count(double(n)); };
  const char* rule = section.decay == "all" ? "tensors" : "matrices and embeddings";
  std::string text =
      fmt::format("decay {:g} on {} {} ({})", section.weight_decay, tensors[1], rule, size(elements[1]));
  if (tensors[0] > 0)
    text += fmt::format(", not on {} norm weights and biases ({})", tensors[0], size(elements[0]));
  return text;
}

}  // namespace shoal
