#include "layers/norm.h"

#include "layers/gradients.h"

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
    : registry_(registry),
      spec_(spec),
      weight_(add_weight(registry, spec)),
      bias_(add_bias(registry, spec)) {}

void Norm::set_parameters(NormArgs& args) const {
  args.weight = weight_.master;
  if (bias_ != nullptr) args.bias = bias_->master;
  args.eps = spec_.eps;
  args.unit_offset = spec_.unit_offset;
}

void Norm::forward(Context& context, NormArgs args) const {
  set_parameters(args);
  if (context.size(Axis::y) > 1) return forward_split(context, args);
  spec_.rms ? context.ops.rmsnorm(args) : context.ops.layernorm(args);
}

void Norm::again(Context& context, NormArgs args) const {
  if (context.size(Axis::y) == 1) return forward(context, args);
  set_parameters(args);
  context.ops.norm_apply(args);
}

void Norm::forward_split(Context& context, NormArgs args) const {
  const int64_t rows = args.x.dim(0), ranks = context.size(Axis::y);
  const Tensor parts(context.device, DType::f32, {ranks, rows, 2});
  const Tensor mine = parts.part(context.at[Axis::y] * rows * 2, {rows, 2});
  context.ops.norm_stats(
      {.x = args.x, .residual = args.residual, .sum = args.sum, .centred = !spec_.rms, .stats = mine});
  context.comm(Axis::y).all_gather(mine, parts, "AG_y " + spec_.name).wait();
  NormCombineArgs combine{
      .parts = parts, .columns = {}, .eps = args.eps, .mean = args.mean, .rstd = args.rstd};
  for (int64_t r = 0; r < ranks; ++r) combine.columns.push_back(part_of(spec_.size, ranks, r).count);
  context.ops.norm_combine(combine);
  if (args.residual.defined()) args.x = args.sum;
  context.ops.norm_apply(args);
}

void Norm::backward(Context& context, NormGradArgs args) const {
  Gradients& gradients = registry_.gradients();
  const Tensor dweight = gradients.to_add(weight_),
               dbias = bias_ != nullptr ? gradients.to_add(*bias_) : Tensor();
  args.weight = weight_.master;
  args.unit_offset = spec_.unit_offset;
  args.dweight = dweight;
  args.dbias = dbias;
  if (context.size(Axis::y) > 1) {
    backward_split(context, args);
  } else {
    spec_.rms ? context.ops.rmsnorm_grad(args) : context.ops.layernorm_grad(args);
  }
  gradients.written(weight_);
  if (bias_ != nullptr) gradients.written(*bias_);
}

void Norm::backward_split(Context& context, NormGradArgs args) const {
  const Tensor sums(context.device, DType::f32, {args.x.dim(0), 2});
  args.sums = sums;
  args.all_columns = spec_.size;
  context.ops.norm_grad_sums(args);
  context.comm(Axis::y).all_reduce(sums, Reduce::sum, "AR_y " + spec_.name).wait();
  context.ops.norm_grad_apply(args);
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
        norm.again(context, {.x = sum, .y = copy, .mean = kept.mean, .rstd = kept.rstd});
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
