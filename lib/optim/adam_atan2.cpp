#include "optim/adam_atan2.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/clip.h"

namespace shoal {
AdamAtan2::AdamAtan2(const OptimizerSection& section, std::vector<Parameter*> parameters,
                     const Context& context)
    : section_(section), parameters_(std::move(parameters)), ops_(context.ops), context_(context) {
  for (const Parameter* p : parameters_) {
    for (const char* moment : {"m", "v"}) state_.push_back(make_state(moment, *p, ops_));
  }
}

AdamwArgs AdamAtan2::arguments(size_t i, int64_t update, double gradient_scale) {
  Parameter& p = *parameters_[i];
  AdamwArgs args{.param = flat(p.master),
                 .grad = flat(grad_to_add(ops_, p)),
                 .m = flat(state_[2 * i].value),
                 .v = flat(state_[2 * i + 1].value),
                 .copy = {}};
  args.gradient_scale = gradient_scale;
  args.beta1 = section_.betas[0];
  args.beta2 = section_.betas[1];
  args.eps = section_.eps;
  args.atan2 = true;
  args.weight_decay = decays(section_, p.spec) ? section_.weight_decay : 0.0;
  args.correction1 = 1.0 - std::pow(args.beta1, double(update));
  args.correction2 = 1.0 - std::pow(args.beta2, double(update));
  return args;
}

void AdamAtan2::apply(int64_t update, double lr, double gradient_scale) {
  if (update == 1) {  // a step of rate 0 without memory sets the moments to g and g^2
    for (size_t i = 0; i < parameters_.size(); ++i) {
      AdamwArgs args = arguments(i, update, gradient_scale);
      args.beta1 = args.beta2 = args.weight_decay = 0;
      args.correction1 = args.correction2 = 1;
      args.atan2 = false;
      ops_.adamw(args);
    }
  }
  std::vector<double> squares(parameters_.size(), 0.0);  // of g / sqrt(v), summed over each tensor
  if (section_.clip_updates) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (counts_here(*parameters_[i], context_)) {
        squares[i] = ops_.adam_relative_squares(arguments(i, update, gradient_scale));
      }
    }
    sum_where_cut(View(squares.data(), DType::f64, {int64_t(squares.size())}), context_);
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = *parameters_[i];
    AdamwArgs args = arguments(i, update, gradient_scale);
    args.lr = lr;
    args.correction1 *= std::max(1.0, std::sqrt(squares[i] / double(p.spec.shape.numel())));
    if (const View copy = owned_copy(p); copy.data != nullptr) args.copy = flat(copy);
    ops_.adamw(args);
  }
}

std::string AdamAtan2::describe() const {
  return fmt::format("adam-atan2: betas {:g} {:g}, {}; {}", section_.betas[0], section_.betas[1],
                     section_.clip_updates ? "updates clipped" : "updates not clipped",
                     describe_decay(section_, parameters_));
}

}  // namespace shoal
