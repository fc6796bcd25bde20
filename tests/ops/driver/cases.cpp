#include "ops/driver/cases.h"

#include <cmath>

namespace shoal::testing {
namespace {

constexpr DType f32 = DType::f32;

Activation any_activation(Trial& t) {
  return static_cast<Activation>(t.between(0, 3));
}

void matmul(Trial& t) {
  const int64_t M = t.size(), N = t.size(), K = t.size();
  MatmulArgs args{.transpose_a = t.coin(), .transpose_b = t.coin(), .accumulate = t.coin()};
  args.b_is_weight = t.coin();
  const Operand& a = t.input("a", t.dtype(), args.transpose_a ? Shape{K, M} : Shape{M, K});
  const Operand& b = t.input("b", t.dtype(), args.transpose_b ? Shape{N, K} : Shape{K, N});
  const Operand& bias = t.coin() ? t.input("bias", f32, {N}) : t.absent();
  const Operand& c = t.output("c", t.coin() ? f32 : t.dtype(), {M, N});
  t.run([&](Ops& ops, Side s) {
    args.a = a(s), args.b = b(s), args.c = c(s), args.bias = bias(s);
    ops.weights_changed();
    ops.matmul(args);
  });
}

// More rows than a panel of the weight gradient of a vocabulary matrix has.
void matmul_tall(Trial& t) {
  const int64_t M = 8192 + t.size(), N = 1 + t.size() % 5, K = 1 + t.size() % 5;
  const Operand& a = t.input("a", t.dtype(), {K, M});
  const Operand& b = t.input("b", t.dtype(), {K, N});
  const Operand& c = t.output("c", f32, {M, N});
  t.run([&](Ops& ops, Side s) {
    ops.matmul({.a = a(s), .b = b(s), .c = c(s), .transpose_a = true, .accumulate = true, .bias = {}});
  });
}

// A weight is multiplied again after it has changed.
void matmul_weight(Trial& t) {
  const int64_t M = t.size(), N = t.size(), K = t.size();
  const Operand& a = t.input("a", t.dtype(), {M, K});
  const Operand& b = t.input("b", t.dtype(), {K, N});
  const Operand& c = t.output("c", t.dtype(), {M, N});
  t.run([&](Ops& ops, Side s) {
    MatmulArgs args{.a = a(s), .b = b(s), .c = c(s), .bias = {}};
    args.b_is_weight = true;
    ops.weights_changed();
    ops.matmul(args);
    set_element(b(s), 0, 5.0);
    ops.weights_changed();
    ops.matmul(args);
    ops.matmul(args);
  });
}

void activation(Trial& t) {
  const int64_t M = t.size(), F = t.size();
  const Activation kind = any_activation(t);
  const Operand& x = t.input("x", t.dtype(), {M, F}, 3.0);
  const Operand& bias = t.coin() ? t.input("bias", f32, {F}) : t.absent();
  const Operand& y = t.output("y", t.dtype(), {M, F});
  t.run([&](Ops& ops, Side s) { ops.activation({.kind = kind, .x = x(s), .bias = bias(s), .y = y(s)}); });
}

void activation_grad(Trial& t) {
  const int64_t M = t.coin() ? t.size() : 3 * t.size(), F = t.coin() ? t.size() : 500 + t.size();
  const Activation kind = any_activation(t);
  const Operand& x = t.input("x", t.dtype(), {M, F}, 3.0);
  const Operand& bias = t.coin() ? t.input("bias", f32, {F}) : t.absent();
  const bool in_place = t.coin();
  Operand& dy = t.input("dy", t.dtype(), {M, F});
  if (in_place) t.also_output(dy);
  const Operand& dx = in_place ? dy : t.output("dx", t.dtype(), {M, F});
  const Operand& dbias = t.coin() ? t.output("dbias", f32, {F}) : t.absent();
  t.run([&](Ops& ops, Side s) {
    ops.activation_grad(
        {.kind = kind, .x = x(s), .bias = bias(s), .dy = dy(s), .dx = dx(s), .dbias = dbias(s)});
  });
}

void glu(Trial& t) {
  const int64_t M = t.size(), F = t.size();
  const Activation kind = any_activation(t);
  const Operand& x = t.input("x", t.dtype(), {M, 2, F}, 3.0);
  const Operand& y = t.output("y", t.dtype(), {M, F});
  t.run([&](Ops& ops, Side s) { ops.glu({.kind = kind, .x = x(s), .y = y(s)}); });
}

void glu_grad(Trial& t) {
  const int64_t M = t.size(), F = t.size();
  const Activation kind = any_activation(t);
  const Operand& x = t.input("x", t.dtype(), {M, 2, F}, 3.0);
  const Operand& dy = t.input("dy", t.dtype(), {M, F});
  const Operand& dx = t.output("dx", t.dtype(), {M, 2, F});
  t.run([&](Ops& ops, Side s) { ops.glu_grad({.kind = kind, .x = x(s), .dy = dy(s), .dx = dx(s)}); });
}

void norm(Trial& t, bool centred) {
  const int64_t M = t.size(), H = t.size() + (centred ? 1 : 0);  // one column less its mean is nothing
  const double mean = t.coin() ? 0.0 : 4.0;
  Operand& x = t.input("x", t.dtype(), {M, H}, 1.0, mean);
  const bool with_residual = t.coin();
  Operand& residual = with_residual ? t.input("residual", t.dtype(), {M, H}) : t.absent();
  // The sum is rounded before it is normalised: eighths below 16 are exact in every type.
  if (with_residual) t.round_to(x, 0.125), t.round_to(residual, 0.125);
  Operand* sum = &t.absent();
  if (with_residual) {
    const int64_t which = t.between(0, 2);
    sum = which == 0 ? &x : which == 1 ? &residual : &t.input("sum", t.dtype(), {M, H});
    t.also_output(*sum);
  }
  const Operand& weight = t.input("weight", f32, {H});
  const Operand& bias = centred && t.coin() ? t.input("bias", f32, {H}) : t.absent();
  const Operand& y = t.output("y", t.dtype(), {M, H});
  const Operand& mean_out = centred ? t.output("mean", f32, {M}) : t.absent();
  const Operand& rstd = t.output("rstd", f32, {M});
  const bool unit_offset = t.coin();
  t.run([&](Ops& ops, Side s) {
    const NormArgs args{.x = x(s),
                        .residual = residual(s),
                        .sum = (*sum)(s),
                        .weight = weight(s),
                        .bias = bias(s),
                        .unit_offset = unit_offset,
                        .y = y(s),
                        .mean = mean_out(s),
                        .rstd = rstd(s)};
    centred ? ops.layernorm(args) : ops.rmsnorm(args);
  });
}

void norm_grad(Trial& t, bool centred) {
  const int64_t M = t.coin() ? t.size() : 3 * t.size(), H = t.size();
  const Operand& x = t.input("x", t.dtype(), {M, H});
  const Operand& weight = t.input("weight", f32, {H});
  const Operand& mean = centred ? t.input("mean", f32, {M}, 0.1) : t.absent();
  const Operand& rstd = t.input("rstd", f32, {M}, 0.1, 1.0);
  const Operand& dy = t.input("dy", t.dtype(), {M, H});
  const Operand& dx = t.output("dx", t.dtype(), {M, H});
  const Operand& dweight = t.output("dweight", f32, {H});
  const Operand& dbias = centred && t.coin() ? t.output("dbias", f32, {H}) : t.absent();
  const bool unit_offset = t.coin(), accumulate = t.coin();
  t.run([&](Ops& ops, Side s) {
    const NormGradArgs args{.x = x(s),
                            .weight = weight(s),
                            .unit_offset = unit_offset,
                            .mean = mean(s),
                            .rstd = rstd(s),
                            .dy = dy(s),
                            .dx = dx(s),
                            .accumulate_dx = accumulate,
                            .dweight = dweight(s),
                            .dbias = dbias(s)};
    centred ? ops.layernorm_grad(args) : ops.rmsnorm_grad(args);
  });
}

void rotary(Trial& t) {
  const int64_t B = t.between(1, 3), T = t.size(), D = 2 * t.between(1, 33);
  const Operand& x = t.output("x", t.dtype(), {B, T, t.between(1, 3), t.between(1, 3), D});
  RotaryArgs args{.rotary_dims = 2 * t.between(1, D / 2), .base = t.coin() ? 10000.0 : 500000.0};
  args.interleaved = t.coin(), args.inverse = t.coin();
  args.first_position = t.coin() ? 0 : t.between(1, 5000);
  t.run([&](Ops& ops, Side s) {
    args.x = x(s);
    ops.rotary(args);
  });
}

void attention(Trial& t) {
  const int64_t B = t.between(1, 2), T = t.size(), S = T + (t.coin() ? 0 : t.size());
  const int64_t G = t.between(1, 3), R = t.between(1, 3), D = t.size();
  const Operand& q = t.input("q", t.dtype(), {B, T, G, R, D});
  const Operand& k = t.input("k", t.dtype(), {B, S, G, D});
  const Operand& v = t.input("v", t.dtype(), {B, S, G, D});
  Operand& out = t.output("out", t.dtype(), {B, T, G, R, D});
  out.tolerance *= 2;  // the probabilities may be rounded to the type on the way
  const Operand& lse = t.coin() ? t.output("lse", f32, {B, G, R, T}) : t.absent();
  const float scale = float(1.0 / std::sqrt(double(D)));
  t.run([&](Ops& ops, Side s) {
    ops.attention({.q = q(s), .k = k(s), .v = v(s), .out = out(s), .lse = lse(s), .scale = scale});
  });
}

// out and lse must fit the inputs: they are the backend's, for both sides.
void attention_grad(Trial& t) {
  const int64_t B = t.between(1, 2), T = t.size(), G = t.between(1, 2), R = t.between(1, 3), D = t.size();
  const Operand& q = t.input("q", t.dtype(), {B, T, G, R, D});
  const Operand& k = t.input("k", t.dtype(), {B, T, G, D});
  const Operand& v = t.input("v", t.dtype(), {B, T, G, D});
  const Operand& out = t.input("out", t.dtype(), {B, T, G, R, D});
  const Operand& lse = t.input("lse", f32, {B, G, R, T});
  const Operand& dout = t.input("dout", t.dtype(), {B, T, G, R, D});
  Operand& dq = t.output("dq", t.dtype(), {B, T, G, R, D});
  Operand& dk = t.output("dk", t.dtype(), {B, T, G, D});
  Operand& dv = t.output("dv", t.dtype(), {B, T, G, D});
  dq.tolerance = dk.tolerance = dv.tolerance = 4 * Trial::tolerance_of(t.dtype());
  dq.terms = dk.terms = 0.1;  // of a single key they are zero
  const float scale = float(1.0 / std::sqrt(double(D)));
  t.run([&](Ops& ops, Side s) {
    if (s == Side::backend) {
      ops.attention({.q = q(s), .k = k(s), .v = v(s), .out = out(s), .lse = lse(s), .scale = scale});
    } else {
      t.copy_to_reference(out), t.copy_to_reference(lse);
    }
    ops.attention_grad({.q = q(s),
                        .k = k(s),
                        .v = v(s),
                        .out = out(s),
                        .lse = lse(s),
                        .dout = dout(s),
                        .dq = dq(s),
                        .dk = dk(s),
                        .dv = dv(s),
                        .scale = scale});
  });
}

void embedding(Trial& t) {
  const int64_t M = t.size(), V = t.size(), H = t.size(), first_row = t.coin() ? 0 : t.between(1, 5);
  const Operand& tokens = t.integers("tokens", M, 0, V + 5);
  const Operand& table = t.input("table", t.coin() ? f32 : t.dtype(), {V, H});
  const Operand& y = t.output("y", t.dtype(), {M, H});
  const float scale = t.coin() ? 1.0f : 3.5f;
  t.run([&](Ops& ops, Side s) {
    ops.embedding(
        {.tokens = tokens(s), .table = table(s), .y = y(s), .scale = scale, .first_row = first_row});
  });
}

void embedding_grad(Trial& t) {
  const int64_t M = 3 * t.size(), V = t.size(), H = t.size(), first_row = t.coin() ? 0 : t.between(1, 5);
  const Operand& tokens = t.integers("tokens", M, 0, V + 5);
  const Operand& dy = t.input("dy", t.dtype(), {M, H});
  const Operand& dtable = t.output("dtable", f32, {V, H});
  const float scale = t.coin() ? 1.0f : 3.5f;
  t.run([&](Ops& ops, Side s) {
    ops.embedding_grad(
        {.tokens = tokens(s), .dy = dy(s), .dtable = dtable(s), .scale = scale, .first_row = first_row});
  });
}

void softmax_stats(Trial& t) {
  const int64_t M = t.size(), V = t.coin() ? t.size() : 2000 + 31 * t.size();
  const int64_t first_column = t.coin() ? 0 : t.between(1, 5);
  const Operand& logits = t.input("logits", f32, {M, V}, 4.0, t.uniform(-30, 30));
  const Operand& targets = t.integers("targets", M, -1, V + 5);
  const Operand& maximum = t.output("maximum", f32, {M});
  const Operand& sum_exp = t.output("sum_exp", f32, {M});
  const Operand& target_logit = t.output("target_logit", f32, {M});
  t.run([&](Ops& ops, Side s) {
    ops.softmax_stats({.logits = logits(s),
                       .targets = targets(s),
                       .maximum = maximum(s),
                       .sum_exp = sum_exp(s),
                       .target_logit = target_logit(s),
                       .first_column = first_column});
  });
}

void softmax_grad(Trial& t) {
  const int64_t M = t.size(), V = t.size(), first_column = t.coin() ? 0 : t.between(1, 5);
  Operand& logits = t.input("logits", f32, {M, V}, 2.0);
  const Operand& targets = t.integers("targets", M, -1, V + 5);
  const Operand& lse = t.input("lse", f32, {M}, 0.5, 5.0);
  Operand& weight = t.input("weight", f32, {M});
  for (Side s : {Side::backend, Side::reference}) set_element(weight(s), 0, 0.0);
  const Operand& z_weight = t.coin() ? t.input("z_weight", f32, {M}) : t.absent();
  const bool in_place = t.dtype() == f32 && t.coin();
  if (in_place) t.also_output(logits);
  const Operand& dlogits = in_place ? logits : t.output("dlogits", t.dtype(), {M, V});
  t.run([&](Ops& ops, Side s) {
    ops.softmax_grad({.logits = logits(s),
                      .targets = targets(s),
                      .lse = lse(s),
                      .weight = weight(s),
                      .z_weight = z_weight(s),
                      .dlogits = dlogits(s),
                      .first_column = first_column});
  });
}

// A shape of one to four dims, now and then larger than a task's piece.
Shape any_shape(Trial& t) {
  switch (t.between(0, 4)) {
    case 0:
      return {t.size()};
    case 1:
      return {t.size(), t.size()};
    case 2:
      return {t.between(1, 3), t.between(1, 5), t.size()};
    case 3:
      return {t.between(1, 3), t.between(1, 3), t.between(1, 3), t.size()};
    default:
      return {16000 + 31 * t.size()};
  }
}

void add(Trial& t) {
  const Shape shape = any_shape(t);
  Operand& a = t.input("a", t.dtype(), shape);
  const Operand& b = t.input("b", t.dtype(), shape);
  const bool in_place = t.coin();
  if (in_place) t.also_output(a);
  const Operand& out = in_place ? a : t.output("out", t.dtype(), shape);
  t.run([&](Ops& ops, Side s) { ops.add(a(s), b(s), out(s)); });
}

void bias_grad(Trial& t) {
  const int64_t M = 3 * t.size(), N = t.coin() ? t.size() : 500 + t.size();
  const Operand& dy = t.input("dy", t.dtype(), {M, N});
  const Operand& dbias = t.output("dbias", f32, {N});
  t.run([&](Ops& ops, Side s) { ops.bias_grad(dy(s), dbias(s)); });
}

void adamw(Trial& t) {
  const int64_t N = t.coin() ? t.size() : 16000 + 31 * t.size();
  const Operand& grad = t.input("grad", f32, {N});
  Operand& param = t.output("param", f32, {N});
  Operand& m = t.output("m", f32, {N});
  Operand& v = t.output("v", f32, {N});
  for (int64_t i = 0; i < N; ++i) {  // a mean of squares is not negative
    for (Side s : {Side::backend, Side::reference}) set_element(v(s), i, std::abs(element(v(s), i)));
  }
  const Operand& copy = t.dtype() == DType::bf16 ? t.output("copy", DType::bf16, {N}) : t.absent();
  const double beta1 = 0.9, beta2 = 0.95, step = double(t.between(1, 100));
  AdamwArgs args{.lr = t.uniform(0, 0.1),
                 .beta1 = beta1,
                 .beta2 = beta2,
                 .weight_decay = t.uniform(0, 0.2),
                 .gradient_scale = t.uniform(0.1, 1.0),
                 .correction1 = 1 - std::pow(beta1, step),
                 .correction2 = 1 - std::pow(beta2, step),
                 .atan2 = t.coin()};
  t.run([&](Ops& ops, Side s) {
    args.param = param(s), args.grad = grad(s), args.m = m(s), args.v = v(s), args.copy = copy(s);
    ops.adamw(args);
  });
}

void adam_relative_squares(Trial& t) {
  const int64_t N = t.coin() ? t.size() : 16000 + 31 * t.size();
  const Operand& grad = t.input("grad", f32, {N});
  const Operand& v = t.input("v", f32, {N});
  for (int64_t i = 0; i < N; ++i) {
    for (Side s : {Side::backend, Side::reference}) set_element(v(s), i, std::abs(element(v(s), i)));
  }
  AdamwArgs args{
      .beta2 = t.uniform(0.5, 1), .eps = t.uniform(1e-8, 1e-2), .gradient_scale = t.uniform(0.1, 1.0)};
  double sums[2] = {};
  t.run([&](Ops& ops, Side s) {
    args.grad = grad(s), args.v = v(s);
    sums[s == Side::backend] = ops.adam_relative_squares(args);
  });
  t.expect_close("adam_relative_squares", sums[1], sums[0], 1e-6);
}

void sum_squares(Trial& t) {
  const Operand& x = t.input("x", t.dtype(), any_shape(t));
  double sums[2] = {};
  t.run([&](Ops& ops, Side s) { sums[s == Side::backend] = ops.sum_squares(x(s)); });
  t.expect_close("sum_squares", sums[1], sums[0], 1e-12);
}

void scale(Trial& t) {
  const Operand& x = t.output("x", t.dtype(), any_shape(t));
  const float factor = float(t.uniform(-2, 2));
  t.run([&](Ops& ops, Side s) { ops.scale(x(s), factor); });
}

void cast(Trial& t) {
  const Shape shape = any_shape(t);
  const Operand& from = t.input("from", t.dtype(), shape);
  const Operand& to = t.output("to", t.coin() ? DType::bf16 : f32, shape);
  t.run([&](Ops& ops, Side s) { ops.cast(from(s), to(s)); });
}

void fill(Trial& t) {
  const Operand& x = t.output("x", t.dtype(), any_shape(t));
  const float value = float(t.uniform(-2, 2));
  t.run([&](Ops& ops, Side s) { ops.fill(x(s), value); });
}

void axpby(Trial& t) {
  const Shape shape = any_shape(t);
  const Operand& x = t.input("x", f32, shape);
  const Operand& y = t.output("y", f32, shape);
  const float a = float(t.uniform(-2, 2)), b = t.coin() ? 0.0f : float(t.uniform(-2, 2));
  if (b == 0.0f) set_element(y.backend, 0, std::nan(""));
  t.run([&](Ops& ops, Side s) { ops.axpby(a, x(s), b, y(s)); });
}

void symmetrize(Trial& t) {
  const int64_t N = t.size();
  const Operand& x = t.output("x", f32, {N, N});
  t.run([&](Ops& ops, Side s) { ops.symmetrize(x(s)); });
}

}  // namespace

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases{
      {"matmul", Op::matmul, matmul},
      {"matmul_tall", Op::matmul, matmul_tall},
      {"matmul_weight", Op::matmul, matmul_weight},
      {"activation", Op::activation, activation},
      {"activation_grad", Op::activation, activation_grad},
      {"glu", Op::glu, glu},
      {"glu_grad", Op::glu, glu_grad},
      {"layernorm", Op::layernorm, [](Trial& t) { norm(t, true); }},
      {"layernorm_grad", Op::layernorm, [](Trial& t) { norm_grad(t, true); }},
      {"rmsnorm", Op::rmsnorm, [](Trial& t) { norm(t, false); }},
      {"rmsnorm_grad", Op::rmsnorm, [](Trial& t) { norm_grad(t, false); }},
      {"rotary", Op::rotary, rotary},
      {"attention", Op::attention, attention},
      {"attention_grad", Op::attention, attention_grad},
      {"embedding", Op::embedding, embedding},
      {"embedding_grad", Op::embedding, embedding_grad},
      {"softmax_stats", Op::cross_entropy, softmax_stats},
      {"softmax_grad", Op::cross_entropy, softmax_grad},
      {"add", Op::add, add},
      {"bias_grad", Op::add, bias_grad},
      {"adamw", Op::adamw, adamw},
      {"adam_relative_squares", Op::adam_relative_squares, adam_relative_squares},
      {"sum_squares", Op::sum_squares, sum_squares},
      {"scale", Op::scale, scale},
      {"cast", Op::cast, cast},
      {"fill", Op::fill, fill},
      {"axpby", Op::axpby, axpby},
      {"symmetrize", Op::symmetrize, symmetrize},
  };
  return cases;
}

}  // namespace shoal::testing
