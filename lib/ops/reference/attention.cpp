#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/reference/elements.h"
#include "ops/reference/kernels.h"

namespace shoal::reference {
namespace {

// One head of one sequence.
struct Head {
  int64_t b, g, r;
};

template <typename F>
void for_each_head(const View& q, F&& f) {
  for (int64_t b = 0; b < q.dim(0); ++b) {
    for (int64_t g = 0; g < q.dim(2); ++g) {
      for (int64_t r = 0; r < q.dim(3); ++r) f(Head{b, g, r});
    }
  }
}

double score(const Elements& q, const Elements& k, const Head& h, int64_t t, int64_t s, int64_t dims,
             float scale) {
  double sum = 0.0;
  for (int64_t d = 0; d < dims; ++d) sum += q(h.b, t, h.g, h.r, d) * k(h.b, s, h.g, d);
  return sum * double(scale);
}

void head_forward(const AttentionArgs& args, const Head& h) {
  const Elements q(args.q), k(args.k), v(args.v), out(args.out), lse(args.lse);
  const int64_t queries = args.q.dim(1), keys = args.k.dim(1), dims = args.q.dim(4);
  for (int64_t t = 0; t < queries; ++t) {
    const int64_t seen = keys - queries + t + 1;
    std::vector<double> p(static_cast<size_t>(seen));
    double maximum = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (int64_t s = 0; s < seen; ++s) {
      p[size_t(s)] = score(q, k, h, t, s, dims, args.scale);
      maximum = std::max(maximum, p[size_t(s)]);
    }
    for (double& e : p) sum += (e = std::exp(e - maximum));
    for (int64_t d = 0; d < dims; ++d) {
      double mix = 0.0;
      for (int64_t s = 0; s < seen; ++s) mix += p[size_t(s)] / sum * v(h.b, s, h.g, d);
      out.set(mix, h.b, t, h.g, h.r, d);
    }
    if (args.lse.defined()) lse.set(maximum + std::log(sum), h.b, h.g, h.r, t);
  }
}

// dk and dv of a key-value head collect from all of its query heads, in double: [keys, D] each.
struct KeyValueGrad {
  std::vector<double> dk, dv;
};

void head_backward(const AttentionGradArgs& args, const Head& h, KeyValueGrad& sums) {
  const Elements q(args.q), k(args.k), v(args.v), out(args.out), lse(args.lse), dout(args.dout), dq(args.dq);
  const int64_t queries = args.q.dim(1), keys = args.k.dim(1), dims = args.q.dim(4);
  for (int64_t t = 0; t < queries; ++t) {
    double delta = 0.0;  // sum over keys of p * dp, which is dout . out
    for (int64_t d = 0; d < dims; ++d) delta += dout(h.b, t, h.g, h.r, d) * out(h.b, t, h.g, h.r, d);
    std::vector<double> dq_row(static_cast<size_t>(dims));
    for (int64_t s = 0; s <= keys - queries + t; ++s) {
      const double p = std::exp(score(q, k, h, t, s, dims, args.scale) - lse(h.b, h.g, h.r, t));
      double dp = 0.0;
      for (int64_t d = 0; d < dims; ++d) dp += dout(h.b, t, h.g, h.r, d) * v(h.b, s, h.g, d);
      const double ds = p * (dp - delta) * double(args.scale);
      for (int64_t d = 0; d < dims; ++d) {
        dq_row[size_t(d)] += ds * k(h.b, s, h.g, d);
        sums.dk[size_t(s * dims + d)] += ds * q(h.b, t, h.g, h.r, d);
        sums.dv[size_t(s * dims + d)] += p * dout(h.b, t, h.g, h.r, d);
      }
    }
    for (int64_t d = 0; d < dims; ++d) dq.set(dq_row[size_t(d)], h.b, t, h.g, h.r, d);
  }
}

}  // namespace

void attention(const AttentionArgs& args) {
  for_each_head(args.q, [&](const Head& h) { head_forward(args, h); });
}

void attention_grad(const AttentionGradArgs& args) {
  const Elements dk(args.dk), dv(args.dv);
  const int64_t keys = args.k.dim(1), dims = args.k.dim(3);
  KeyValueGrad sums;
  for_each_head(args.q, [&](const Head& h) {
    if (h.r == 0) sums = {std::vector<double>(size_t(keys * dims)), std::vector<double>(size_t(keys * dims))};
    head_backward(args, h, sums);
    if (h.r + 1 < args.q.dim(3)) return;
    for (int64_t s = 0; s < keys; ++s) {
      for (int64_t d = 0; d < dims; ++d) {
        dk.set(sums.dk[size_t(s * dims + d)], h.b, s, h.g, d);
        dv.set(sums.dv[size_t(s * dims + d)], h.b, s, h.g, d);
      }
    }
  });
}

}  // namespace shoal::reference
