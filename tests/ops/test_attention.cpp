// Attention of the CPU backend against a plain loop in double precision.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ops/cpu/attention.h"

namespace shoal {
namespace {

struct Case {
  int64_t B, T, S, G, R, D;
  double logit_scale = 1;  // multiplies q
};

std::string describe(const Case& c) {
  return fmt::format("B={} T={} S={} G={} R={} D={} x{}", c.B, c.T, c.S, c.G, c.R, c.D, c.logit_scale);
}

// A view into memory with room around and between its elements, to see whether anything else is written.
template <typename T>
class Guarded {
 public:
  // Dims given with their strides in elements.
  Guarded(const Shape& shape, std::array<int64_t, 5> strides, int64_t offset = 0) {
    int64_t span = 1;
    for (int i = 0; i < shape.rank(); ++i) span += (shape[i] - 1) * strides[size_t(i)];
    memory_.assign(size_t(span + offset + 2 * guard), T(guard_value));
    view_ = View(memory_.data() + guard + offset, dtype_of<T>(), shape, strides);
    written_.assign(memory_.size(), false);
    each([&](int64_t at) { written_[size_t(at + guard + offset)] = true; });
  }

  Guarded(const Guarded&) = delete;

  const View& view() const { return view_; }
  template <typename Generator>
  void fill(Generator generate) {
    each([&](int64_t at) { static_cast<T*>(view_.data)[at] = T(float(generate())); });
  }
  std::vector<double> values() const {
    std::vector<double> all;
    each([&](int64_t at) { all.push_back(double(float(static_cast<const T*>(view_.data)[at]))); });
    return all;
  }
  bool rest_untouched() const {
    for (size_t i = 0; i < memory_.size(); ++i) {
      if (!written_[i] && float(memory_[i]) != guard_value) return false;
    }
    return true;
  }
  const std::vector<T>& memory() const { return memory_; }

 private:
  static constexpr int64_t guard = 64;
  static constexpr float guard_value = -768.0f;

  template <typename F>
  void each(F f) const {
    const Shape& s = view_.shape;
    std::vector<int64_t> index(size_t(s.rank()), 0);
    for (int64_t n = 0; n < s.numel(); ++n) {
      int64_t at = 0;
      for (int i = 0; i < s.rank(); ++i) at += index[size_t(i)] * view_.strides[size_t(i)];
      f(at);
      for (int i = s.rank() - 1; i >= 0 && ++index[size_t(i)] == s[i]; --i) index[size_t(i)] = 0;
    }
  }

  std::vector<T> memory_;
  std::vector<bool> written_;
  View view_;
};

template <typename T>
Guarded<T> dense(const Shape& s) {
  return Guarded<T>(s, View(nullptr, DType::f32, s).strides);
}

// q, k, v (or their gradients) side by side as the model holds them, [B, T, G, R + 2, D] with `gap` elements
// behind each position; k and v are separate when there are more keys than queries.
template <typename T>
struct Qkv {
  Guarded<T> q, k, v;
  Qkv(const Case& c, int64_t gap)
      : q({c.B, c.T, c.G, c.R, c.D}, strides(c, c.T, gap)),
        k({c.B, c.S, c.G, c.D}, without_heads(strides(c, c.S, gap)), c.R * c.D),
        v({c.B, c.S, c.G, c.D}, without_heads(strides(c, c.S, gap)), (c.R + 1) * c.D) {}

  static std::array<int64_t, 5> strides(const Case& c, int64_t length, int64_t gap) {
    const int64_t group = (c.R + 2) * c.D, position = c.G * group + gap;
    return {length * position, position, group, c.D, 1};
  }
  static std::array<int64_t, 5> without_heads(std::array<int64_t, 5> s) { return {s[0], s[1], s[2], 1}; }
};

struct Expected {
  std::vector<double> out, lse, dq, dk, dv;
};

// Index into the dense arrays that values() gives.
struct Index {
  Case c;
  size_t q(int64_t b, int64_t t, int64_t g, int64_t r, int64_t d) const {
    return size_t((((b * c.T + t) * c.G + g) * c.R + r) * c.D + d);
  }
  size_t k(int64_t b, int64_t s, int64_t g, int64_t d) const {
    return size_t(((b * c.S + s) * c.G + g) * c.D + d);
  }
  size_t lse(int64_t b, int64_t g, int64_t r, int64_t t) const {
    return size_t(((b * c.G + g) * c.R + r) * c.T + t);
  }
};

Expected expect(const Case& c, double scale, const std::vector<double>& q, const std::vector<double>& k,
                const std::vector<double>& v, const std::vector<double>& dout) {
  const Index at{c};
  Expected e{std::vector<double>(q.size()), std::vector<double>(size_t(c.B * c.G * c.R * c.T)),
             std::vector<double>(q.size()), std::vector<double>(k.size()), std::vector<double>(k.size())};
  std::vector<double> p(static_cast<size_t>(c.S));
  for (int64_t b = 0; b < c.B; ++b)
    for (int64_t g = 0; g < c.G; ++g)
      for (int64_t r = 0; r < c.R; ++r)
        for (int64_t t = 0; t < c.T; ++t) {
          const int64_t seen = c.S - c.T + t + 1;
          double largest = -1e300, sum = 0, mean_dp = 0;
          for (int64_t s = 0; s < seen; ++s) {
            double dot = 0;
            for (int64_t d = 0; d < c.D; ++d) dot += q[at.q(b, t, g, r, d)] * k[at.k(b, s, g, d)];
            p[size_t(s)] = dot * scale;
            largest = std::max(largest, dot * scale);
          }
          for (int64_t s = 0; s < seen; ++s) sum += std::exp(p[size_t(s)] - largest);
          e.lse[at.lse(b, g, r, t)] = largest + std::log(sum);
          std::vector<double> dp(size_t(seen), 0.0);
          for (int64_t s = 0; s < seen; ++s) {
            p[size_t(s)] = std::exp(p[size_t(s)] - largest) / sum;
            for (int64_t d = 0; d < c.D; ++d) {
              e.out[at.q(b, t, g, r, d)] += p[size_t(s)] * v[at.k(b, s, g, d)];
              dp[size_t(s)] += dout[at.q(b, t, g, r, d)] * v[at.k(b, s, g, d)];
              e.dv[at.k(b, s, g, d)] += p[size_t(s)] * dout[at.q(b, t, g, r, d)];
            }
            mean_dp += p[size_t(s)] * dp[size_t(s)];
          }
          for (int64_t s = 0; s < seen; ++s) {
            const double ds = p[size_t(s)] * (dp[size_t(s)] - mean_dp) * scale;
            for (int64_t d = 0; d < c.D; ++d) {
              e.dq[at.q(b, t, g, r, d)] += ds * k[at.k(b, s, g, d)];
              e.dk[at.k(b, s, g, d)] += ds * q[at.q(b, t, g, r, d)];
            }
          }
        }
  return e;
}

// Largest error relative to the largest value, or to 0.1 where all cancel to less.
double error(const std::vector<double>& actual, const std::vector<double>& expected) {
  double worst = 0, largest = 0.1;
  for (double x : expected) largest = std::max(largest, std::abs(x));
  for (size_t i = 0; i < actual.size(); ++i) {
    const double e = std::abs(actual[i] - expected[i]);
    worst = std::isnan(e) ? 1e300 : std::max(worst, e);
  }
  return worst / largest;
}

template <typename T>
struct Run {
  Qkv<T> inputs, grads;
  Guarded<T> out, dout;
  Guarded<float> lse;
  AttentionArgs args;
  AttentionGradArgs grad_args;

  Run(const Case& c, int64_t gap, unsigned seed = 1)
      : inputs(c, gap),
        grads(c, gap + 1),
        out(dense<T>({c.B, c.T, c.G, c.R, c.D})),
        dout(dense<T>({c.B, c.T, c.G, c.R, c.D})),
        lse(dense<float>({c.B, c.G, c.R, c.T})) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> normal;
    const auto draw = [&] { return normal(engine); };
    inputs.q.fill([&] { return c.logit_scale * normal(engine); });
    inputs.k.fill(draw);
    inputs.v.fill(draw);
    dout.fill(draw);
    const float scale = 1.0f / std::sqrt(float(c.D));
    args = {inputs.q.view(), inputs.k.view(), inputs.v.view(), out.view(), lse.view(), scale};
    grad_args = {inputs.q.view(), inputs.k.view(), inputs.v.view(), out.view(),     lse.view(),
                 dout.view(),     grads.q.view(),  grads.k.view(),  grads.v.view(), scale};
  }
  Run(const Run&) = delete;

  Expected expected(const Case& c) const {
    return expect(c, double(args.scale), inputs.q.values(), inputs.k.values(), inputs.v.values(),
                  dout.values());
  }
  bool guards_hold() const {
    return out.rest_untouched() && lse.rest_untouched() && grads.q.rest_untouched() &&
           grads.k.rest_untouched() && grads.v.rest_untouched() && inputs.q.rest_untouched() &&
           inputs.k.rest_untouched() && inputs.v.rest_untouched();
  }
};

template <typename T>
void check_case(Device& device, const Case& c, int64_t gap) {
  CAPTURE(describe(c));
  Run<T> run(c, gap);
  const Expected e = run.expected(c);
  constexpr bool exact = std::is_same_v<T, float>;
  // bf16 keeps 8 bits: outputs are off by half of 2^-8, and so are the probabilities that are multiplied.
  const double tolerance = exact ? 1e-5 : 1e-2, grad_tolerance = exact ? 1e-5 : 2e-2;
  cpu::attention(device, run.args);
  CHECK(error(run.out.values(), e.out) < tolerance);
  CHECK(error(run.lse.values(), e.lse) < 1e-5);
  if (c.S == c.T) {
    cpu::attention_grad(device, run.grad_args);
    CHECK(error(run.grads.q.values(), e.dq) < grad_tolerance);
    CHECK(error(run.grads.k.values(), e.dk) < grad_tolerance);
    CHECK(error(run.grads.v.values(), e.dv) < grad_tolerance);
  }
  CHECK(run.guards_hold());
}

void check_both(const Case& c, int64_t gap = 0) {
  const auto device = make_device("cpu");
  check_case<float>(*device, c, gap);
  check_case<bf16>(*device, c, gap);
}

}  // namespace

TEST_CASE("attention: head sizes") {
  for (int64_t D : {64, 32, 80, 96, 128, 256, 40, 20, 1, 7, 33}) check_both({1, 70, 70, 2, 1, D});
}

TEST_CASE("attention: grouped-query heads") {
  for (int64_t R : {2, 3, 4, 5, 8}) check_both({2, 37, 37, 2, R, 24}, 5);
}

TEST_CASE("attention: lengths around the blocks") {
  for (int64_t T : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 191, 200, 257}) {
    check_both({1, T, T, 1, 1, 16}, 3);
  }
}

TEST_CASE("attention: more keys than queries") {
  for (int64_t T : {1, 2, 5, 8, 9, 40, 64}) {
    for (int64_t cached : {1, 3, 60, 130, 700}) check_both({2, T, T + cached, 2, 1, 20}, 1);
  }
  check_both({1, 1, 1300, 2, 8, 64});
  check_both({1, 3, 1300, 1, 2, 80});
  check_both({1, 30, 333, 2, 4, 33});
}

TEST_CASE("attention: one long head is cut in pieces") {
  check_both({1, 600, 600, 1, 1, 16});
}

TEST_CASE("attention: large logits do not overflow") {
  const auto device = make_device("cpu");
  for (const Case& c : {Case{1, 150, 150, 1, 2, 16, 300.0}, Case{1, 2, 600, 1, 1, 16, 300.0}}) {
    CAPTURE(describe(c));
    // Scores of a thousand carry rounding errors of 1e-4, which the exponential makes relative errors.
    Run<float> run(c, 0);
    const Expected e = run.expected(c);
    cpu::attention(*device, run.args);
    CHECK(error(run.out.values(), e.out) < 1e-3);
    CHECK(error(run.lse.values(), e.lse) < 1e-6);
    if (c.S == c.T) {
      cpu::attention_grad(*device, run.grad_args);
      CHECK(error(run.grads.q.values(), e.dq) < 1e-3);
      CHECK(error(run.grads.k.values(), e.dk) < 1e-3);
      CHECK(error(run.grads.v.values(), e.dv) < 1e-3);
    }
  }
}

TEST_CASE("attention: random shapes") {
  std::mt19937 engine(7);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  for (int i = 0; i < 40; ++i) {
    const int64_t T = draw(1, 140), S = i % 2 ? T : T + draw(0, 200);
    check_both({draw(1, 3), T, S, draw(1, 3), draw(1, 4), draw(1, 70)}, draw(0, 9));
  }
}

TEST_CASE("attention: what comes later is not seen, and what is not a number stays visible") {
  const auto device = make_device("cpu");
  for (int64_t T : {3, 100}) {
    const Case c{1, T, T, 1, 2, 16};
    Run<float> run(c, 0), changed(c, 0);
    const int64_t last = T - 1;
    const View &k = changed.inputs.k.view(), &v = changed.inputs.v.view();
    k.as<float>()[last * k.stride(1)] = std::nanf("");
    v.as<float>()[last * v.stride(1)] = 1e30f;
    cpu::attention(*device, run.args);
    cpu::attention(*device, changed.args);
    const auto a = run.out.values(), b = changed.out.values();
    const auto before = a.size() - size_t(c.R * c.D);
    CHECK(std::equal(a.begin(), a.begin() + int64_t(before), b.begin()));
    CHECK(std::isnan(b[before]));
  }
}

TEST_CASE("attention: the result does not depend on the number of threads") {
  const auto device = make_device("cpu");
  const int threads = omp_get_max_threads();
  for (const Case& c :
       {Case{1, 1100, 1100, 1, 1, 32}, Case{3, 130, 130, 1, 2, 48}, Case{1, 1, 2000, 1, 2, 64}}) {
    CAPTURE(describe(c));
    const auto bits = [&](int n) {
      omp_set_num_threads(n);
      Run<bf16> run(c, 0);
      cpu::attention(*device, run.args);
      if (c.S == c.T) cpu::attention_grad(*device, run.grad_args);
      std::vector<uint16_t> all;
      for (const auto* m : {&run.out, &run.grads.q, &run.grads.k, &run.grads.v}) {
        for (bf16 x : m->memory()) all.push_back(x.bits);
      }
      return all;
    };
    const auto one = bits(1), two = bits(2), five = bits(5);
    CHECK(one == two);
    CHECK(one == five);
  }
  omp_set_num_threads(threads);
}

TEST_CASE("attention: lse may be left out") {
  const auto device = make_device("cpu");
  for (int64_t T : {1, 50}) {
    const Case c{1, T, 60, 1, 1, 16};
    Run<float> with(c, 0), without(c, 0);
    without.args.lse = View();
    cpu::attention(*device, with.args);
    cpu::attention(*device, without.args);
    CHECK(with.out.values() == without.out.values());
  }
}

}  // namespace shoal
