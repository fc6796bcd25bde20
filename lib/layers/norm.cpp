#include "layers/norm.h"

namespace shoal {
namespace {

Parameter& add_weight(ParameterRegistry& registry, const Norm::Spec& spec) {
  return registry.add({.name = spec.name + ".weight",
                       .shape = {spec.size},
                       .shard = {.y_dim = 0},
                       .init = InitRule::constant(spec.unit_offset ? 0 : 1)});
}

Parameter* add_bias(ParameterRegistry& registry, const Norm::Spec& spec) {
  if (!spec.bias) return nullptr;
  return &registry.add({.name = spec.name + ".bias",
                        .shape = {spec.size},
                        .shard = {.y_dim = 0},
                        .init = InitRule::constant(0)});
}

// What a norm's backward needs of its forward beside its input.
struct Statistics {
  Tensor mean, rstd;  // [M]; mean only of LayerNorm
};

Statistics make_statistics(Context& context, const Norm& norm, int64_t rows) {
  Statistics statistics;
  if (!norm.rms()) statistics.mean = Tensor(context.device, DType::f32, {rows});
  statistics.rstd = Tensor(context.device, DType::f32, {rows});
  return statistics;
}

}  // namespace

Norm::Norm(ParameterRegistry& registry, const Spec& spec)
    : spec_(spec), weight_(add_weight(registry, spec)), bias_(add_bias(registry, spec)) {}

void Norm::forward(Context& context, NormArgs args) const {
  args.weight = weight_.master;
  if (bias_ != nullptr) args.bias = bias_->master;
  args.eps = spec_.eps;
  args.unit_offset = spec_.unit_offset;
  spec_.rms ? context.ops.rmsnorm(args) : context.ops.layernorm(args);
}

void Norm::backward(Context& context, NormGradArgs args) const {
  args.weight = weight_.master;
  args.unit_offset = spec_.unit_offset;
  args.dweight = grad_to_add(context.ops, weight_);
  if (bias_ != nullptr) args.dbias = grad_to_add(context.ops, *bias_);
  spec_.rms ? context.ops.rmsnorm_grad(args) : context.ops.layernorm_grad(args);
}

Normed add_norm(Context& context, Tape& tape, const Residual& residual,
                const std::vector<const Norm*>& norms) {
  const Tensor& x = residual.stream.value;
  Tensor sum = residual.pending.defined() ? Tensor(context.device, x.dtype(), x.shape()) : x;
  Normed result{make_var(sum), {}};
  std::vector<Statistics> statistics;
  for (size_t i = 0; i < norms.size(); ++i) {
    const Norm& norm = *norms[i];
    const Statistics& kept = statistics.emplace_back(make_statistics(context, norm, x.dim(0)));
    Tensor y(context.device, x.dtype(), x.shape());
    NormArgs args{.x = i == 0 ? x : sum, .y = y, .mean = kept.mean, .rstd = kept.rstd};
    if (i == 0 && residual.pending.defined()) {
      args.residual = residual.pending.value;
      args.sum = sum;
    }
    norm.forward(context, args);

    std::function<Tensor()> again;
    if (tape.recording()) {
      again = [&context, &norm, sum, kept] {
        Tensor copy(context.device, sum.dtype(), sum.shape());
        norm.forward(context, {.x = sum, .y = copy, .mean = kept.mean, .rstd = kept.rstd});
        return copy;
      };
    }
    result.outs.push_back(make_var(y, std::move(again)));
  }

  std::vector<std::shared_ptr<Tensor>> out_grads;
  for (const Var& out : result.outs) out_grads.push_back(out.grad);
  tape.record([&context, norms, sum, statistics, out_grads, sum_grad = result.stream.grad,
               stream_grad = residual.stream.grad, pending_grad = residual.pending.grad] {
    bool accumulate = sum_grad->defined();
    // The one that begins it is handed on, from layer to layer, to the end of backward.
    if (!accumulate) *sum_grad = Tensor(context.device, sum.dtype(), sum.shape(), Lifetime::lasting);
    for (size_t i = 0; i < norms.size(); ++i) {
      norms[i]->backward(context, {.x = sum,
                                   .mean = statistics[i].mean,
                                   .rstd = statistics[i].rstd,
                                   .dy = *out_grads[i],
                                   .dx = *sum_grad,
                                   .accumulate_dx = accumulate});
      out_grads[i]->reset();
      accumulate = true;
    }
    *stream_grad = *sum_grad;
    if (pending_grad) *pending_grad = *sum_grad;
    sum_grad->reset();
  });
  return result;
}

}  // namespace shoal
