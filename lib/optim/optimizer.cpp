#include "optim/optimizer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"
#include "optim/adamw.h"
#include "optim/jorge.h"

namespace shoal {

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSection& section, ParameterRegistry& parameters,
                                          Ops& ops) {
  std::vector<Parameter*> all;
  for (Parameter& p : parameters.all()) all.push_back(&p);
  if (section.name == "adamw") return std::make_unique<AdamW>(section, all, ops);
  if (section.name == "jorge") return std::make_unique<Jorge>(section, all, ops);
  throw UserError(Problem{.what = "unknown optimizer",
                          .where = "optimizer.name",
                          .value = section.name,
                          .allowed = "adamw, jorge",
                          .hint = ""});
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
