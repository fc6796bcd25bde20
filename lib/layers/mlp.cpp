#include "layers/mlp.h"

namespace shoal {
namespace {

// The gate and up rows of a gated layer are cut alike, so that dim stays whole and the features are what is
// split.
Linear::Spec up_spec(const Mlp::Spec& spec) {
  const Shape out = spec.gated ? Shape{2, spec.intermediate_size} : Shape{spec.intermediate_size};
  return {.name = spec.name + ".up",
          .out = out,
          .in = {spec.hidden_size},
          .bias = spec.bias,
          .output_axis = OutputAxis::x,
          .init = spec.init,
          .out_split = spec.gated ? 1 : 0};
}

}  // namespace

Mlp::Mlp(ParameterRegistry& registry, const Spec& spec)
    : spec_(spec),
      up_(registry, up_spec(spec)),
      down_(registry, {.name = spec.name + ".down",
                       .out = {spec.hidden_size},
                       .in = {spec.intermediate_size},
                       .bias = spec.bias,
                       .output_axis = OutputAxis::y,
                       .init = spec.output_init}) {}

void Mlp::activate(Context& context, const View& pre, const View& y) const {
  if (spec_.gated) {
    context.ops.glu({.kind = spec_.activation, .x = pre.reshape({pre.dim(0), 2, y.dim(1)}), .y = y});
  } else {
    const View bias = up_.bias() ? up_.bias()->master.view() : View();
    context.ops.activation({.kind = spec_.activation, .x = pre, .bias = bias, .y = y});
  }
}

Var Mlp::forward(Context& context, Tape& tape, const Var& x, const Var& add_to) const {
  const int64_t M = x.value.dim(0);
  const DType type = x.value.dtype();
  // The bias of a plain layer is added by the activation, which passes over the values anyway.
  Tensor pre(context.device, type, {M, up_.out_size()});
  up_.multiply(context, x.value, pre, false, spec_.gated);
  Tensor activated(context.device, type, {M, down_.in_size()});
  activate(context, pre, activated);

  Var y = add_to.defined() ? add_to : make_var(Tensor(context.device, type, {M, down_.out_size()}));
  down_.multiply(context, activated, y.value, add_to.defined());
  if (tape.recording()) {
    tape.record([this, &context, pre = std::move(pre), x_saved = x.save(), dx = x.grad,
                 dy = y.grad]() mutable { backward(context, x_saved, std::move(pre), *dy, *dx); });
  }
  return y;
}

void Mlp::backward(Context& context, const Saved& x, Tensor pre, const Tensor& dy, Tensor& dx) const {
  const int64_t M = pre.dim(0), F = down_.in_size();
  const DType type = pre.dtype();
  {
    Tensor activated(context.device, type, {M, F});
    activate(context, pre, activated);
    down_.weight_grad(context, dy, activated);
  }
  Tensor dactivated(context.device, type, {M, F});
  down_.multiply_grad(context, dy, dactivated);

  Tensor dpre = spec_.gated ? Tensor(context.device, type, {M, up_.out_size()}) : dactivated;
  if (spec_.gated) {
    context.ops.glu_grad({.kind = spec_.activation,
                          .x = pre.view().reshape({M, 2, F}),
                          .dy = dactivated,
                          .dx = dpre.view().reshape({M, 2, F})});
  } else {
    ActivationGradArgs args{
        .kind = spec_.activation, .x = pre, .bias = {}, .dy = dactivated, .dx = dpre, .dbias = {}};
    if (up_.bias() != nullptr) {
      args.bias = up_.bias()->master;
      args.dbias = grad_to_add(context.ops, *up_.bias());
    }
    context.ops.activation_grad(args);
  }
  dactivated.reset();
  pre.reset();

  const bool accumulate = dx.defined();
  if (!accumulate) dx = Tensor(context.device, type, {M, up_.in_size()});
  up_.multiply_grad(context, dpre, dx, accumulate);
  up_.weight_grad(context, dpre, x.get(), spec_.gated);
}

}  // namespace shoal
