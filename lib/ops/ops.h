// The operations a model needs, as one interface that every backend implements.
//
// Conventions. B batch, T sequence, H hidden, V vocabulary, G key-value heads (groups), R query heads a
// group, D head size, F feed-forward size, M rows (B*T). Activations are f32 or bf16 ("compute type"), all of
// one call alike unless stated; biases, norm weights, statistics, losses, gradients of parameters and all
// sums are f32. The last dim of every view has stride 1. "accumulate" adds to what the output holds;
// gradients of parameters always accumulate. Results do not depend on anything but the inputs and the number
// of threads: no atomics, fixed summation order. Calls enqueue on the device's stream. Shapes are the
// caller's duty (SHOAL_CHECK); nothing here sees user input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "tensor/view.h"

namespace shoal {

enum class Op {
  matmul,
  activation,
  glu,
  layernorm,
  rmsnorm,
  rotary,
  attention,
  embedding,
  add,
  cross_entropy,
  adamw,
  adam_relative_squares,
  sum_squares,
  scale,
  cast,
  fill,
  axpby,
  symmetrize,
};
std::string_view name_of(Op op);

// gelu is exact (erf); gelu_tanh is 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
enum class Activation { gelu, gelu_tanh, silu, relu };

// c [M, N] (+)= op(a) [M, K] * op(b) [K, N] (+ bias [N]), with f32 accumulation.
// Types (a, b, c): f32 f32 f32, bf16 bf16 bf16, bf16 bf16 f32. Rows may be strided.
struct MatmulArgs {
  View a, b, c;
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;
  View bias;                  // optional
  bool b_is_weight = false;   // b stays the same until weights_changed(): a backend may keep a packed copy
  bool b_is_passing = false;  // of a weight that lies here for a while only: a packed copy serves one product
};

// y [M, F] = activation(x [M, F] + bias [F]); bias optional.
struct ActivationArgs {
  Activation kind = Activation::gelu;
  View x, bias, y;
};
// dx [M, F] = dy * activation'(x + bias); dbias [F] f32 accumulates the column sums of dx. dx may be dy.
struct ActivationGradArgs {
  Activation kind = Activation::gelu;
  View x, bias, dy, dx, dbias;
};

// x [M, 2, F] holds gate and up; y [M, F] = activation(gate) * up. SwiGLU is silu, GeGLU gelu or gelu_tanh.
struct GluArgs {
  Activation kind = Activation::silu;
  View x, y;
};
struct GluGradArgs {  // dx [M, 2, F]
  Activation kind = Activation::silu;
  View x, dy, dx;
};

// LayerNorm (Ba et al. 2016) or RMSNorm (Zhang and Sennrich 2019) over the last dim of x [M, H].
// If residual [M, H] is given, x + residual is normalised, and written to sum [M, H] (which may be x or
// residual). unit_offset: the weight is 1 + weight (Gemma). weight and bias are f32 parameters; bias only for
// LayerNorm, optional.
struct NormArgs {
  View x, residual, sum;
  View weight, bias;
  float eps = 1e-5f;
  bool unit_offset = false;
  View y;
  View mean, rstd;  // [M] f32; mean only for LayerNorm
};
// x is what was normalised (the sum, if there was a residual). dx (+)= gradient; dweight, dbias [H] f32
// accumulate.
struct NormGradArgs {
  View x, weight;
  bool unit_offset = false;
  View mean, rstd, dy;
  View dx;
  bool accumulate_dx = false;
  View dweight, dbias;
  View sums;                // of a split norm
  int64_t all_columns = 0;  // of a split norm
};

// A norm whose features are split over ranks, in steps between which the ranks exchange statistics. Each
// rank has some of the columns of every row; weight, bias and their gradients are of its columns.
//   norm_stats      stats [M, 2]: the mean of a row's columns here and their sum of squared deviations from
//                   it, or 0 and the sum of squares (RMSNorm). With a residual as in NormArgs.
//   norm_combine    parts [P, M, 2], of P ranks with columns[p] columns each, into mean (if defined) and rstd
//                   [M] of whole rows: Chan et al. 1979, which no cancellation can spoil
//   norm_apply      y from x, mean (undefined: 0) and rstd
//   norm_grad_sums  sums [M, 2]: of g and of g n over the columns here, with g = dy * weight and n the
//                   normalised x; accumulates dweight and dbias
//   norm_grad_apply dx (+)= rstd (g - sums_0 / N - n sums_1 / N), with N columns in all (RMSNorm: no sums_0)
struct NormStatsArgs {
  View x, residual, sum;
  bool centred = true;  // LayerNorm
  View stats;
};
struct NormCombineArgs {
  View parts;
  std::vector<int64_t> columns;
  float eps = 1e-5f;
  View mean, rstd;
};

// Rotary position embedding (Su et al. 2021) in place on the first rotary_dims of x [B, T, A, C, D] (any two
// head dims A, C; rows strided). Position of t is first_position + t. half-split pairs (i, i +
// rotary_dims/2), interleaved pairs (2i, 2i+1). Angle = position * base^(-2i/rotary_dims), computed in f64
// and kept as a f32 table. inverse rotates back, which is the gradient.
struct RotaryArgs {
  View x;
  int64_t rotary_dims = 0;
  double base = 10000.0;
  bool interleaved = false;
  bool inverse = false;
  int64_t first_position = 0;
};

// Causal softmax attention without the T x T matrix in memory (Dao et al. 2022), grouped-query heads.
// q [B, T, G, R, D], k and v [B, S, G, D], strided; query t sees keys 0 .. S - T + t. out [B, T, G, R, D];
// lse [B, G, R, T] f32 is the log of the softmax denominator (of scaled scores). lse may be undefined in
// inference.
struct AttentionArgs {
  View q, k, v, out, lse;
  float scale = 1.0f;  // usually D^-0.5
};
struct AttentionGradArgs {  // S == T here; dq, dk, dv are strided like q, k, v and are overwritten
  View q, k, v, out, lse, dout;
  View dq, dk, dv;
  float scale = 1.0f;
};

// y [M, H] = scale * table[tokens[i]]; tokens [M] i32 are in 0 .. V-1 less first_row (a vocabulary shard:
// rows outside it give zeros). table [V, H] has the compute type or is f32.
struct EmbeddingArgs {
  View tokens, table, y;
  float scale = 1.0f;
  int64_t first_row = 0;
};
struct EmbeddingGradArgs {  // dtable [V, H] f32 += scale * dy
  View tokens, dy, dtable;
  float scale = 1.0f;
  int64_t first_row = 0;
};

// Softmax statistics of a chunk of logits [M, V] (f32): maximum [M], sum of exp(logit - maximum) [M], logit
// of the target [M] (0 where the target lies outside first_column .. first_column + V - 1, or is negative).
// For a vocabulary split over ranks the caller combines the statistics before the gradient.
struct SoftmaxStatsArgs {
  View logits, targets;  // targets [M] i32
  View maximum, sum_exp, target_logit;
  int64_t first_column = 0;
};
// dlogits [M, V] (compute type; each row may begin where that row of the logits does, and overwrite it) of
//   sum_i weight[i] * (lse_i - logit_target) + z_weight[i] * lse_i^2.
// lse [M], weight [M], z_weight [M] (optional) f32. Rows of weight 0 give zeros.
struct SoftmaxGradArgs {
  View logits, targets, lse, weight, z_weight, dlogits;
  int64_t first_column = 0;
};

// Decoupled weight decay (Loshchilov and Hutter 2019), bias-corrected, eps outside the root:
//   m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;  p = p (1 - lr wd) - lr (m / c1) / (sqrt(v / c2) + eps).
// With atan2 the step is (lr / c1) atan2(m, sqrt(v / c2)) instead, which no scale of the gradient can change
// and which needs no eps (Everett et al. 2024, arXiv 2407.05872); v is kept at eps^2 at least. g is
// multiplied by gradient_scale first (clipping). All f32, one flat length; copy (optional) gets p as bf16.
struct AdamwArgs {
  View param, grad, m, v, copy;
  double lr = 0, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weight_decay = 0, gradient_scale = 1;
  double correction1 = 1, correction2 = 1;  // 1 - beta^step
  bool atan2 = false;
};

class Ops {
 public:
  virtual ~Ops() = default;

  virtual std::string name() const = 0;
  virtual Device& device() = 0;
  virtual bool supports(Op op, DType dtype) const = 0;

  virtual void matmul(const MatmulArgs& args) = 0;
  virtual void weights_changed() = 0;  // drops every packed copy

  virtual void activation(const ActivationArgs& args) = 0;
  virtual void activation_grad(const ActivationGradArgs& args) = 0;
  virtual void glu(const GluArgs& args) = 0;
  virtual void glu_grad(const GluGradArgs& args) = 0;
  virtual void layernorm(const NormArgs& args) = 0;
  virtual void layernorm_grad(const NormGradArgs& args) = 0;
  virtual void rmsnorm(const NormArgs& args) = 0;
  virtual void rmsnorm_grad(const NormGradArgs& args) = 0;
  virtual void norm_stats(const NormStatsArgs& args) = 0;
  virtual void norm_combine(const NormCombineArgs& args) = 0;
  virtual void norm_apply(const NormArgs& args) = 0;
  virtual void norm_grad_sums(const NormGradArgs& args) = 0;
  virtual void norm_grad_apply(const NormGradArgs& args) = 0;
  virtual void rotary(const RotaryArgs& args) = 0;
  virtual void attention(const AttentionArgs& args) = 0;
  virtual void attention_grad(const AttentionGradArgs& args) = 0;
  virtual void embedding(const EmbeddingArgs& args) = 0;
  virtual void embedding_grad(const EmbeddingGradArgs& args) = 0;
  virtual void softmax_stats(const SoftmaxStatsArgs& args) = 0;
  virtual void softmax_grad(const SoftmaxGradArgs& args) = 0;

  virtual void add(const View& a, const View& b, const View& out) = 0;  // out may be a or b; same type
  virtual void bias_grad(const View& dy, const View& dbias) = 0;  // dbias [N] f32 += column sums of dy [M, N]
  virtual void adamw(const AdamwArgs& args) = 0;
  // The sum of g^2 / max(v', eps^2), v' the second moment that adamw with these args would set, from grad and
  // v alone; summed in f64, synchronises.
  virtual double adam_relative_squares(const AdamwArgs& args) = 0;
  virtual double sum_squares(const View& x) = 0;            // f32 or bf16, summed in f64; synchronises
  virtual void scale(const View& x, float factor) = 0;      // in place, f32 or bf16
  virtual void cast(const View& from, const View& to) = 0;  // f32 <-> bf16, strided rows
  virtual void fill(const View& x, float value) = 0;
  virtual void axpby(float a, const View& x, float b,
                     const View& y) = 0;       // y = a x + b y, f32; b = 0 overwrites y
  virtual void symmetrize(const View& x) = 0;  // x [N, N] = (x + x^T) / 2, f32
};

// The operations of a device made by make_device.
std::unique_ptr<Ops> make_ops(Device& device);

}  // namespace shoal
