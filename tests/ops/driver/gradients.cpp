#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "ops/driver/cases.h"

namespace shoal::testing {
namespace {

constexpr DType f32 = DType::f32;

using Step = std::function<void(Ops& ops, Side side)>;

struct Pair {
  Operand& input;
  const Operand& gradient;
};

// One operation's way forward and back, with loss = sum(y * dy).
struct Problem {
  Trial& t;
  Operand &y, &dy;
  Step forward, backward;

  double loss() const {
    forward(t.reference(), Side::reference);
    double sum = 0;
    for (int64_t r = 0; r < y.rows; ++r) {
      for (int64_t c = 0; c < y.columns; ++c) {
        sum += element(y.reference, r * y.stride + c) * element(dy.reference, r * dy.stride + c);
      }
    }
    return sum;
  }

  // The slope of the loss along a random direction, by central differences in f64, against the product of
  // that direction with each side's gradient.
  void check(const std::vector<Pair>& pairs) const {
    t.run(forward);
    t.run(backward);
    for (const Pair& pair : pairs) check(pair);
  }

  void check(const Pair& pair) const {
    constexpr double h = 1e-6;
    Operand& x = pair.input;
    const Operand& g = pair.gradient;
    std::vector<double> direction, start;
    double backend = 0, reference = 0, squares = 0;
    for (int64_t r = 0; r < x.rows; ++r) {
      for (int64_t c = 0; c < x.columns; ++c) {
        direction.push_back(t.normal());
        start.push_back(element(x.reference, r * x.stride + c));
        const double exact = element(g.reference, r * g.stride + c);
        reference += direction.back() * exact;
        backend += direction.back() * element(g.backend, r * g.stride + c);
        squares += exact * exact;
      }
    }
    const auto loss_at = [&](double distance) {
      for (int64_t i = 0; i < x.rows * x.columns; ++i) {
        set_element(x.reference, i / x.columns * x.stride + i % x.columns,
                    start[size_t(i)] + distance * direction[size_t(i)]);
      }
      return loss();
    };
    const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
    loss_at(0);
    const double typical = std::sqrt(squares) + 1e-3;
    report(pair.gradient.name + " of the reference", reference, slope, 1e-6 * typical);
    report(pair.gradient.name, backend, slope, 2 * Trial::tolerance_of(g.backend.dtype) * typical);
  }

  void report(const std::string& name, double got, double slope, double allowed) const {
    if (std::abs(got - slope) <= allowed) return;
    t.fail(fmt::format("{} has slope {}, finite differences give {} (within {:.2g})", name, got, slope,
                       allowed));
  }
};

int64_t small(Trial& t) {
  return t.between(2, 20);
}

void matmul(Trial& t) {
  const int64_t M = small(t), N = small(t), K = small(t);
  const bool ta = t.coin(), tb = t.coin();
  Operand& a = t.input("a", t.dtype(), ta ? Shape{K, M} : Shape{M, K});
  Operand& b = t.input("b", t.dtype(), tb ? Shape{N, K} : Shape{K, N});
  Operand& bias = t.input("bias", f32, {N});
  Operand& y = t.zeros("y", t.dtype(), {M, N});
  Operand& dy = t.input("dy", t.dtype(), {M, N});
  const Operand& da = t.zeros("da", t.dtype(), a.backend.shape);
  const Operand& db = t.zeros("db", f32, b.backend.shape);
  const Operand& dbias = t.zeros("dbias", f32, {N});
  const auto product = [](Ops& ops, const View& left, bool tl, const View& right, bool tr, const View& to) {
    ops.matmul({.a = left, .b = right, .c = to, .transpose_a = tl, .transpose_b = tr, .accumulate = true});
  };
  Problem{
      t, y, dy,
      [&](Ops& ops, Side s) {
        ops.matmul({.a = a(s), .b = b(s), .c = y(s), .transpose_a = ta, .transpose_b = tb, .bias = bias(s)});
      },
      [&](Ops& ops, Side s) {
        ta ? product(ops, b(s), tb, dy(s), true, da(s)) : product(ops, dy(s), false, b(s), !tb, da(s));
        tb ? product(ops, dy(s), true, a(s), ta, db(s)) : product(ops, a(s), !ta, dy(s), false, db(s));
        ops.bias_grad(dy(s), dbias(s));
      }}
      .check({{a, da}, {b, db}, {bias, dbias}});
}

void activation(Trial& t) {
  const int64_t M = small(t), F = small(t);
  const auto kind = static_cast<Activation>(t.between(0, 3));
  Operand& x = t.input("x", t.dtype(), {M, F}, 2.0);
  Operand& bias = t.input("bias", f32, {F});
  Operand& y = t.zeros("y", t.dtype(), {M, F});
  Operand& dy = t.input("dy", t.dtype(), {M, F});
  const Operand& dx = t.zeros("dx", t.dtype(), {M, F});
  const Operand& dbias = t.zeros("dbias", f32, {F});
  Problem{t, y, dy,
          [&](Ops& ops, Side s) { ops.activation({.kind = kind, .x = x(s), .bias = bias(s), .y = y(s)}); },
          [&](Ops& ops, Side s) {
            ops.activation_grad(
                {.kind = kind, .x = x(s), .bias = bias(s), .dy = dy(s), .dx = dx(s), .dbias = dbias(s)});
          }}
      .check({{x, dx}, {bias, dbias}});
}

void glu(Trial& t) {
  const int64_t M = small(t), F = small(t);
  const auto kind = static_cast<Activation>(t.between(0, 3));
  Operand& x = t.input("x", t.dtype(), {M, 2, F}, 2.0);
  Operand& y = t.zeros("y", t.dtype(), {M, F});
  Operand& dy = t.input("dy", t.dtype(), {M, F});
  const Operand& dx = t.zeros("dx", t.dtype(), {M, 2, F});
  Problem{t, y, dy, [&](Ops& ops, Side s) { ops.glu({.kind = kind, .x = x(s), .y = y(s)}); },
          [&](Ops& ops, Side s) { ops.glu_grad({.kind = kind, .x = x(s), .dy = dy(s), .dx = dx(s)}); }}
      .check({{x, dx}});
}

void norm(Trial& t, bool centred) {
  const int64_t M = small(t), H = 4 + small(t);
  Operand& x = t.input("x", t.dtype(), {M, H});
  Operand& weight = t.input("weight", f32, {H});
  Operand& bias = centred ? t.input("bias", f32, {H}) : t.absent();
  Operand& y = t.zeros("y", t.dtype(), {M, H});
  Operand& dy = t.input("dy", t.dtype(), {M, H});
  const Operand& mean = centred ? t.zeros("mean", f32, {M}) : t.absent();
  const Operand& rstd = t.zeros("rstd", f32, {M});
  const Operand& dx = t.zeros("dx", t.dtype(), {M, H});
  const Operand& dweight = t.zeros("dweight", f32, {H});
  const Operand& dbias = centred ? t.zeros("dbias", f32, {H}) : t.absent();
  const bool unit_offset = t.coin();
  std::vector<Pair> pairs{{x, dx}, {weight, dweight}};
  if (centred) pairs.push_back({bias, dbias});
  Problem{t, y, dy,
          [&](Ops& ops, Side s) {
            const NormArgs args{.x = x(s),
                                .weight = weight(s),
                                .bias = bias(s),
                                .unit_offset = unit_offset,
                                .y = y(s),
                                .mean = mean(s),
                                .rstd = rstd(s)};
            centred ? ops.layernorm(args) : ops.rmsnorm(args);
          },
          [&](Ops& ops, Side s) {
            const NormGradArgs args{.x = x(s),
                                    .weight = weight(s),
                                    .unit_offset = unit_offset,
                                    .mean = mean(s),
                                    .rstd = rstd(s),
                                    .dy = dy(s),
                                    .dx = dx(s),
                                    .dweight = dweight(s),
                                    .dbias = dbias(s)};
            centred ? ops.layernorm_grad(args) : ops.rmsnorm_grad(args);
          }}
      .check(pairs);
}

// The gradient of a rotation is the inverse rotation.
void rotary(Trial& t) {
  const Shape shape{2, small(t), 2, 2, 2 * t.between(1, 10)};
  RotaryArgs args{.rotary_dims = 2 * t.between(1, shape[4] / 2), .interleaved = t.coin()};
  args.first_position = t.between(0, 100);
  Operand& x = t.input("x", t.dtype(), shape);
  Operand& y = t.zeros("y", t.dtype(), shape);
  Operand& dy = t.input("dy", t.dtype(), shape);
  const Operand& dx = t.zeros("dx", t.dtype(), shape);
  const auto turn = [&](Ops& ops, const View& from, const View& to, bool inverse) {
    ops.cast(from, to);
    args.x = to, args.inverse = inverse;
    ops.rotary(args);
  };
  Problem{t, y, dy, [&](Ops& ops, Side s) { turn(ops, x(s), y(s), false); },
          [&](Ops& ops, Side s) { turn(ops, dy(s), dx(s), true); }}
      .check({{x, dx}});
}

void attention(Trial& t) {
  const int64_t B = 2, T = small(t), G = t.between(1, 2), R = t.between(1, 3), D = small(t);
  const Shape of_q{B, T, G, R, D}, of_k{B, T, G, D};
  Operand &q = t.input("q", t.dtype(), of_q), &k = t.input("k", t.dtype(), of_k);
  Operand& v = t.input("v", t.dtype(), of_k);
  Operand& out = t.zeros("out", t.dtype(), of_q);
  Operand& dout = t.input("dout", t.dtype(), of_q);
  const Operand& lse = t.zeros("lse", f32, {B, G, R, T});
  const Operand &dq = t.zeros("dq", t.dtype(), of_q), &dk = t.zeros("dk", t.dtype(), of_k);
  const Operand& dv = t.zeros("dv", t.dtype(), of_k);
  const float scale = float(1.0 / std::sqrt(double(D)));
  Problem{t, out, dout,
          [&](Ops& ops, Side s) {
            ops.attention({.q = q(s), .k = k(s), .v = v(s), .out = out(s), .lse = lse(s), .scale = scale});
          },
          [&](Ops& ops, Side s) {
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
          }}
      .check({{q, dq}, {k, dk}, {v, dv}});
}

void embedding(Trial& t) {
  const int64_t M = small(t), V = small(t), H = small(t);
  const Operand& tokens = t.integers("tokens", M, 0, V - 1);
  Operand& table = t.input("table", t.dtype(), {V, H});
  Operand& y = t.zeros("y", t.dtype(), {M, H});
  Operand& dy = t.input("dy", t.dtype(), {M, H});
  const Operand& dtable = t.zeros("dtable", f32, {V, H});
  Problem{t, y, dy,
          [&](Ops& ops, Side s) {
            ops.embedding({.tokens = tokens(s), .table = table(s), .y = y(s), .scale = 1.5f});
          },
          [&](Ops& ops, Side s) {
            ops.embedding_grad({.tokens = tokens(s), .dy = dy(s), .dtable = dtable(s), .scale = 1.5f});
          }}
      .check({{table, dtable}});
}

// y [M] = weight (lse - logit of the target) + z_weight lse^2, put together here from the statistics.
void cross_entropy(Trial& t) {
  const int64_t M = small(t), V = small(t);
  Operand& logits = t.input("logits", f32, {M, V}, 3.0);
  const Operand& targets = t.integers("targets", M, 0, V - 1);
  const Operand &weight = t.input("weight", f32, {M}), &z_weight = t.input("z_weight", f32, {M}, 0.1);
  const Operand &maximum = t.zeros("maximum", f32, {M}), &sum_exp = t.zeros("sum_exp", f32, {M});
  const Operand &target_logit = t.zeros("target_logit", f32, {M}), &lse = t.zeros("lse", f32, {M});
  Operand &y = t.zeros("y", f32, {M}), &dy = t.input("dy", f32, {M}, 0.0, 1.0);
  const Operand& dlogits = t.zeros("dlogits", t.dtype(), {M, V});
  Problem{t, y, dy,
          [&](Ops& ops, Side s) {
            ops.softmax_stats({.logits = logits(s),
                               .targets = targets(s),
                               .maximum = maximum(s),
                               .sum_exp = sum_exp(s),
                               .target_logit = target_logit(s)});
            for (int64_t i = 0; i < M; ++i) {
              const double log_sum = element(maximum(s), i) + std::log(element(sum_exp(s), i));
              set_element(lse(s), i, log_sum);
              set_element(y(s), i,
                          element(weight(s), i) * (log_sum - element(target_logit(s), i)) +
                              element(z_weight(s), i) * log_sum * log_sum);
            }
          },
          [&](Ops& ops, Side s) {
            ops.softmax_grad({.logits = logits(s),
                              .targets = targets(s),
                              .lse = lse(s),
                              .weight = weight(s),
                              .z_weight = z_weight(s),
                              .dlogits = dlogits(s)});
          }}
      .check({{logits, dlogits}});
}

}  // namespace

const std::vector<Case>& all_gradient_cases() {
  static const std::vector<Case> cases{
      {"matmul", Op::matmul, matmul},
      {"activation", Op::activation, activation},
      {"glu", Op::glu, glu},
      {"layernorm", Op::layernorm, [](Trial& t) { norm(t, true); }},
      {"rmsnorm", Op::rmsnorm, [](Trial& t) { norm(t, false); }},
      {"rotary", Op::rotary, rotary},
      {"attention", Op::attention, attention},
      {"embedding", Op::embedding, embedding},
      {"cross_entropy", Op::cross_entropy, cross_entropy},
  };
  return cases;
}

}  // namespace shoal::testing
