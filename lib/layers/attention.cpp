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

bool Attention::exchanges(const Context& context, const Positions& positions) const {
  return positions.rows % context.size(Axis::y) != 0;
}

Tensor Attention::rows_to_heads(Context& context, const Tensor& rows) const {
  const int64_t ranks = context.size(Axis::y), m = rows.dim(0), width = rows.dim(1) / ranks;
  const Tensor packed(context.device, rows.dtype(), {ranks, m, width});
  const View by_rank(rows.view().data, rows.dtype(), {ranks, m, width}, {width, ranks * width, 1});
  context.ops.cast(by_rank, packed);
  Tensor heads(context.device, rows.dtype(), {ranks * m, width});
  context.comm(Axis::y).all_to_all(packed, heads, "A2A_y " + spec_.name).wait();
  return heads;
}

Tensor Attention::heads_to_rows(Context& context, const Tensor& heads) const {
  const int64_t ranks = context.size(Axis::y), m = heads.dim(0) / ranks, width = heads.dim(1);
  const Tensor packed(context.device, heads.dtype(), {ranks, m, width});
  context.comm(Axis::y).all_to_all(heads, packed, "A2A_y " + spec_.name).wait();
  Tensor rows(context.device, heads.dtype(), {m, ranks * width});
  const View by_rank(rows.view().data, rows.dtype(), {ranks, m, width}, {width, ranks * width, 1});
  context.ops.cast(packed, by_rank);
  return rows;
}

Var Attention::forward(Context& context, Tape& tape, const Var& x, const Positions& positions) const {
  const int64_t T = positions.length, D = spec_.head_dim, y_ranks = context.size(Axis::y);
  const DType type = x.value.dtype();
  const bool exchange = exchanges(context, positions);
  const int64_t B = exchange ? positions.rows : positions.rows / y_ranks;
  const int64_t G = qkv_.weight().slab.shape[0] / (exchange ? y_ranks : 1);

  Tensor rows(context.device, type, {qkv_.out_rows(context, x.value.dim(0)), qkv_.out_size()});
  qkv_.forward(context, x.value, rows);
  if (exchange) rows = rows_to_heads(context, rows);
  const Tensor qkv = rows.reshape({B, T, G, queries_ + 2, D});
  rotate(context, qkv, positions.first, false);

  AttentionArgs args = heads(qkv);
  if (positions.keys.defined()) {
    context.ops.cast(args.k, positions.keys.slice(1, positions.first, T));
    context.ops.cast(args.v, positions.values.slice(1, positions.first, T));
    args.k = positions.keys.slice(1, 0, positions.first + T);
    args.v = positions.values.slice(1, 0, positions.first + T);
  }
  const Tensor out(context.device, type, {B, T, G, queries_, D});
  Tensor lse;
  if (tape.recording()) lse = Tensor(context.device, DType::f32, {B, G, queries_, T});
  args.out = out;
  args.lse = lse;
  context.ops.attention(args);

  const Tensor out_heads = out.reshape({B * T, G * queries_ * D});
  const Tensor out_rows = exchange ? heads_to_rows(context, out_heads) : out_heads;
  Var y = make_var(Tensor(context.device, type, {x.value.dim(0), output_.out_size()}));
  output_.forward(context, out_rows, y.value);
  if (tape.recording()) {
    tape.record([this, &context, positions, qkv, out, out_rows, lse, x_saved = x.save(), dx = x.grad,
                 dy = y.grad]() mutable {
      backward(context, x_saved, positions, {qkv, out, std::move(out_rows), lse}, std::move(*dy), *dx);
    });
  }
  return y;
}

void Attention::backward(Context& context, const Saved& x, const Positions& positions, Kept kept, Tensor dy,
                         Tensor& dx) const {
  const bool exchange = exchanges(context, positions);
  Tensor dout;
  output_.backward(context, dy, Saved(std::move(kept.out_rows)), dout);
  dy.reset();
  if (exchange) dout = rows_to_heads(context, dout);

  const Tensor dqkv(context.device, kept.qkv.dtype(), kept.qkv.shape());
  const AttentionArgs forward = heads(kept.qkv), grads = heads(dqkv);
  context.ops.attention_grad({.q = forward.q,
                              .k = forward.k,
                              .v = forward.v,
                              .out = kept.out,
                              .lse = kept.lse,
                              .dout = dout.view().reshape(kept.out.shape()),
                              .dq = grads.q,
                              .dk = grads.k,
                              .dv = grads.v,
                              .scale = forward.scale});
  dout.reset();
  rotate(context, dqkv, positions.first, true);
  Tensor rows = dqkv.reshape({dqkv.dim(0) * dqkv.dim(1), dqkv.numel() / (dqkv.dim(0) * dqkv.dim(1))});
  if (exchange) rows = heads_to_rows(context, rows);
  qkv_.backward(context, rows, x, dx);
}

}  // namespace shoal
