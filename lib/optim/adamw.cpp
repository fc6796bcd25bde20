#include "optim/adamw.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace shoal {

AdamW::AdamW(const OptimizerSection& section, std::vector<Parameter*> parameters, Ops& ops)
    : section_(section), parameters_(std::move(parameters)), ops_(ops) {
  for (const Parameter* p : parameters_) {
    for (const char* moment : {"m", "v"}) {
      state_.push_back(make_state(moment, *p, ops_));
    }
  }
}

void AdamW::apply(int64_t update, double lr, double gradient_scale) {
  AdamwArgs args;
  args.lr = lr;
  args.beta1 = section_.betas[0];
  args.beta2 = section_.betas[1];
  args.eps = section_.eps;
  args.gradient_scale = gradient_scale;
  args.correction1 = 1.0 - std::pow(args.beta1, double(update));
  args.correction2 = 1.0 - std::pow(args.beta2, double(update));
  size_t i = 0;
  for (Parameter* parameter : parameters_) {
    Parameter& p = *parameter;
    const Tensor& m = state_[i++].value;
    const Tensor& v = state_[i++].value;
    args.param = flat(p.master);
    args.grad = flat(grad_to_add(ops_, p));
    args.m = flat(m);
    args.v = flat(v);
    const View copy = owned_copy(p);
    args.copy = copy.data != nullptr ? flat(copy) : View();
    args.weight_decay = decays(section_, p.spec) ? section_.weight_decay : 0.0;
    ops_.adamw(args);
  }
}

std::string AdamW::describe() const {
  return fmt::format("adamw: betas {:g} {:g}, eps {:g}; {}", section_.betas[0], section_.betas[1],
                     section_.eps, describe_decay(section_, parameters_));
}

}  // namespace shoal
