#include "optim/sgd.h"

#include <fmt/format.h>

#include <utility>

namespace shoal {

Sgd::Sgd(const OptimizerSection& section, std::vector<Parameter*> parameters, Ops& ops)
    : section_(section), parameters_(std::move(parameters)), ops_(ops) {
  for (const Parameter* p : parameters_) state_.push_back(make_state("momentum", *p, ops_));
}

void Sgd::apply(int64_t, double lr, double gradient_scale) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& p = *parameters_[i];
    const double decay = decays(section_, p.spec) ? section_.weight_decay : 0.0;
    ops_.axpby(float(gradient_scale), grad_to_add(ops_, p), float(section_.momentum), state_[i].value);
    ops_.axpby(float(-lr), state_[i].value, float(1 - lr * decay), p.master);
    update_compute_copy(p, ops_);
  }
}

std::string Sgd::describe() const {
  return fmt::format("sgd: momentum {:g}; {}", section_.momentum, describe_decay(section_, parameters_));
}

}  // namespace shoal
