#include "layers/attention.h"

#include <cmath>

namespace shoal {
namespace {

// One of the R + 2 heads of a group, without its dim: [B, T, G, D].
View head(const View& qkv, int64_t index) {
  const View one = qkv.slice(3, index, 1);
  return View(one.data, one.dtype, {one.dim(0), one.dim(1), one.dim(2), one.dim(4)},
              {one.stride(0), one.stride(1), one.stride(2), one.stride(4)});
}

}  // namespace

Attention::Attention(ParameterRegistry& registry, const Spec& spec)
    : spec_(spec),
      queries_(spec.num_heads / spec.num_kv_heads),
      qkv_(registry, {.name = spec.name + ".qkv",
                      .out = {spec.num_kv_heads, queries_ + 2, spec.head_dim},
                      .in = {spec.hidden_size},
                      .bias = spec.bias,
                      .output_axis = OutputAxis::x,
                      .init = spec.init}),
      output_(registry, {.name = spec.name + ".output",
                         .out = {spec.hidden_size},
                         .in = {spec.num_kv_heads, queries_ * spec.head_dim},
                         .bias = spec.bias,
                         .output_axis = OutputAxis::y,
                         .init = spec.output_init}) {}

AttentionArgs Attention::heads(const View& qkv) const {
  AttentionArgs args;
  args.q = qkv.slice(3, 0, queries_);
  args.k = head(qkv, queries_);
  args.v = head(qkv, queries_ + 1);
  args.scale = 1.0f / std::sqrt(static_cast<float>(spec_.head_dim));
  return args;
}

void Attention::rotate(Context& context, const View& qkv, int64_t first, bool inverse) const {
  if (spec_.rotary_dims == 0) return;
  context.ops.rotary({.x = qkv.slice(3, 0, queries_ + 1),
                      .rotary_dims = spec_.rotary_dims,
                      .base = spec_.rotary_base,
                      .interleaved = spec_.rotary_interleaved,
                      .inverse = inverse,
                      .first_position = first});
}

Var Attention::forward(Context& context, Tape& tape, const Var& x, const Positions& positions) const {
  const int64_t B = positions.rows, T = positions.length, G = qkv_.weight().slab.shape[0], D = spec_.head_dim;
  const DType type = x.value.dtype();
  Tensor qkv(context.device, type, {B, T, G, queries_ + 2, D});
  qkv_.multiply(context, x.value, qkv.view().reshape({B * T, qkv_.out_size()}));
  rotate(context, qkv, positions.first, false);

  AttentionArgs args = heads(qkv);
  if (positions.keys.defined()) {
    context.ops.cast(args.k, positions.keys.slice(1, positions.first, T));
    context.ops.cast(args.v, positions.values.slice(1, positions.first, T));
    args.k = positions.keys.slice(1, 0, positions.first + T);
    args.v = positions.values.slice(1, 0, positions.first + T);
  }
  Tensor out(context.device, type, {B, T, G, queries_, D});
  Tensor lse;
  if (tape.recording()) lse = Tensor(context.device, DType::f32, {B, G, queries_, T});
  args.out = out;
  args.lse = lse;
  context.ops.attention(args);

  Var y = make_var(Tensor(context.device, type, {B * T, output_.out_size()}));
  output_.multiply(context, out.view().reshape({B * T, output_.in_size()}), y.value);
  if (tape.recording()) {
    tape.record(
        [this, &context, positions, qkv, out, lse, x_saved = x.save(), dx = x.grad, dy = y.grad]() mutable {
          backward(context, x_saved, positions, qkv, out, lse, std::move(*dy), *dx);
        });
  }
  return y;
}

void Attention::backward(Context& context, const Saved& x, const Positions& positions, const Tensor& qkv,
                         const Tensor& out, const Tensor& lse, Tensor dy, Tensor& dx) const {
  const int64_t M = positions.rows * positions.length;
  Tensor dout(context.device, qkv.dtype(), out.shape());
  output_.multiply_grad(context, dy, dout.view().reshape({M, output_.in_size()}));
  output_.weight_grad(context, dy, out.view().reshape({M, output_.in_size()}));
  dy.reset();

  Tensor dqkv(context.device, qkv.dtype(), qkv.shape());
  const AttentionArgs forward = heads(qkv), grads = heads(dqkv);
  context.ops.attention_grad({.q = forward.q,
                              .k = forward.k,
                              .v = forward.v,
                              .out = out,
                              .lse = lse,
                              .dout = dout,
                              .dq = grads.q,
                              .dk = grads.k,
                              .dv = grads.v,
                              .scale = forward.scale});
  dout.reset();
  rotate(context, dqkv, positions.first, true);
  const View rows = dqkv.view().reshape({M, qkv_.out_size()});
  const bool accumulate = dx.defined();
  if (!accumulate) dx = Tensor(context.device, qkv.dtype(), {M, qkv_.in_size()});
  qkv_.multiply_grad(context, rows, dx, accumulate);
  qkv_.weight_grad(context, rows, x.get());
}

}  // namespace shoal
