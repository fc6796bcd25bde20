#include "layers/mlp.h"

#include "layers/gradients.h"

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
    : registry_(registry),
      spec_(spec),
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
  const int64_t rows = up_.out_rows(context, x.value.dim(0));
  const DType type = x.value.dtype();
  // The bias of a plain layer is added by the activation, which passes over the values anyway.
  Tensor pre(context.device, type, {rows, up_.out_size()});
  up_.forward(context, x.value, pre, false, spec_.gated);
  Tensor activated(context.device, type, {rows, down_.in_size()});
  activate(context, pre, activated);

  Var y =
      add_to.defined() ? add_to : make_var(Tensor(context.device, type, {x.value.dim(0), down_.out_size()}));
  down_.forward(context, activated, y.value, add_to.defined());
  if (tape.recording()) {
    tape.record([this, &context, pre = std::move(pre), x_saved = x.save(), dx = x.grad,
                 dy = y.grad]() mutable { backward(context, x_saved, std::move(pre), *dy, *dx); });
  }
  return y;
}

void Mlp::backward(Context& context, const Saved& x, Tensor pre, const Tensor& dy, Tensor& dx) const {
  const int64_t rows = pre.dim(0), F = down_.in_size();
  const DType type = pre.dtype();
  const Saved activated([&] {
    Tensor again(context.device, type, {rows, F});
    activate(context, pre, again);
    return again;
  });
  Tensor dactivated;
  down_.backward(context, dy, activated, dactivated);

  Tensor dpre = spec_.gated ? Tensor(context.device, type, {rows, up_.out_size()}) : dactivated;
  if (spec_.gated) {
    context.ops.glu_grad({.kind = spec_.activation,
                          .x = pre.view().reshape({rows, 2, F}),
                          .dy = dactivated,
                          .dx = dpre.view().reshape({rows, 2, F})});
  } else {
    activation_grad(context, pre, dactivated, dpre);
  }
  dactivated.reset();
  pre.reset();
  up_.backward(context, dpre, x, dx, spec_.gated);
}

void Mlp::activation_grad(Context& context, const View& pre, const View& dy, const View& dx) const {
  ActivationGradArgs args{.kind = spec_.activation, .x = pre, .bias = {}, .dy = dy, .dx = dx, .dbias = {}};
  Tensor dbias;
  if (up_.bias() != nullptr) {
    dbias = registry_.gradients().to_add(*up_.bias());
    args.bias = up_.bias()->master;
    args.dbias = dbias;
  }
  context.ops.activation_grad(args);
  if (up_.bias() != nullptr) registry_.gradients().written(*up_.bias());
}

}  // namespace shoal
