#include "model/init_rules.h"

#include <cmath>

#include "base/error.h"

namespace shoal {
namespace {

InitRule named(const std::string& name, const ModelConfig& config, bool output, int64_t layer) {
  const double h = static_cast<double>(config.hidden_size), L = static_cast<double>(config.num_layers);
  const double l = static_cast<double>(layer);
  if (name == "small_init") return InitRule::normal(std::sqrt(2 / (5 * h)));
  if (name == "wang_init") return InitRule::normal(2 / (L * std::sqrt(h)));
  if (name == "normal") return InitRule::normal(config.init_std);
  if (name == "scaled_normal") return InitRule::normal(config.init_std / std::sqrt(2 * L));
  if (name == "mitchell") return InitRule::normal(1 / std::sqrt(output ? 2 * h * (l + 1) : h), 3);
  if (name == "takase") return InitRule::normal(std::sqrt(2 / (5 * h)) / (output ? std::sqrt(2 * L) : 1), 3);
  throw UserError({.what = "unknown rule for initial weights",
                   .where = output ? "model.output_init" : "model.init",
                   .value = name,
                   .allowed = "small_init, wang_init, normal, scaled_normal, mitchell, takase",
                   .hint = ""});
}

}  // namespace

InitRule input_init(const ModelConfig& config) {
  return named(config.init, config, false, 0);
}
InitRule output_init(const ModelConfig& config, int64_t layer) {
  return named(config.output_init, config, true, layer);
}

}  // namespace shoal
