#include "ops/timed.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace shoal {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  TimedOps::Time start() const { return start_; }

 private:
  TimedOps::Time start_ = std::chrono::steady_clock::now();
};

Product product_of(const MatmulArgs& args) {
  return {.m = args.c.dim(0),
          .n = args.c.dim(1),
          .k = args.a.dim(args.transpose_a ? 0 : 1),
          .in = args.a.dtype,
          .out = args.c.dtype,
          .transpose_a = args.transpose_a,
          .transpose_b = args.transpose_b,
          .accumulate = args.accumulate,
          .bias = args.bias.defined(),
          .b_is_weight = args.b_is_weight};
}

double flops_of(const Product& product) {
  return 2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
         static_cast<double>(product.k);
}

// Two products of all pairs, without the causal half (Chowdhery et al. 2022, appendix B).
double attention_flops(const View& q, const View& k) {
  return 4.0 * static_cast<double>(q.numel()) * static_cast<double>(k.dim(1));
}

}  // namespace

std::string to_string(const Product& product) {
  std::string text = fmt::format("{} x {} x {} {}", product.m, product.n, product.k, name_of(product.in));
  if (product.out != product.in) text += fmt::format(" to {}", name_of(product.out));
  if (product.transpose_a) text += ", A transposed";
  if (product.transpose_b) text += ", B transposed";
  if (product.accumulate) text += ", added";
  return text;
}

void TimedOps::reset() {
  kinds_.clear();
  products_.clear();
}

template <typename Call>
double TimedOps::timed(const char* kind, double flops, Call call) {
  const Stopwatch watch;
  call();
  inner_.device().synchronize();
  const double seconds = watch.seconds();
  if (observer_) observer_(kind, watch.start(), std::chrono::steady_clock::now());
  OpTime& time = kinds_[kind];
  ++time.calls;
  time.seconds += seconds;
  time.flops += flops;
  return seconds;
}

void TimedOps::matmul(const MatmulArgs& args) {
  const Product product = product_of(args);
  const double flops = flops_of(product);
  const double seconds = timed("matmul", flops, [&] { inner_.matmul(args); });
  OpTime& time = products_[product];
  ++time.calls;
  time.seconds += seconds;
  time.flops += flops;
}

void TimedOps::attention(const AttentionArgs& args) {
  timed("attention", attention_flops(args.q, args.k), [&] { inner_.attention(args); });
}
void TimedOps::attention_grad(const AttentionGradArgs& args) {
  timed("attention_grad", 2 * attention_flops(args.q, args.k), [&] { inner_.attention_grad(args); });
}
double TimedOps::adam_relative_squares(const AdamwArgs& args) {
  double sum = 0;
  timed("adam_relative_squares", 0, [&] { sum = inner_.adam_relative_squares(args); });
  return sum;
}

double TimedOps::sum_squares(const View& x) {
  double sum = 0;
  timed("sum_squares", 0, [&] { sum = inner_.sum_squares(x); });
  return sum;
}
void TimedOps::weights_changed() {
  timed("weights_changed", 0, [&] { inner_.weights_changed(); });
}
void TimedOps::activation(const ActivationArgs& args) {
  timed("activation", 0, [&] { inner_.activation(args); });
}
void TimedOps::activation_grad(const ActivationGradArgs& args) {
  timed("activation_grad", 0, [&] { inner_.activation_grad(args); });
}
void TimedOps::glu(const GluArgs& args) {
  timed("glu", 0, [&] { inner_.glu(args); });
}
void TimedOps::glu_grad(const GluGradArgs& args) {
  timed("glu_grad", 0, [&] { inner_.glu_grad(args); });
}
void TimedOps::layernorm(const NormArgs& args) {
  timed("layernorm", 0, [&] { inner_.layernorm(args); });
}
void TimedOps::layernorm_grad(const NormGradArgs& args) {
  timed("layernorm_grad", 0, [&] { inner_.layernorm_grad(args); });
}
void TimedOps::rmsnorm(const NormArgs& args) {
  timed("rmsnorm", 0, [&] { inner_.rmsnorm(args); });
}
void TimedOps::rmsnorm_grad(const NormGradArgs& args) {
  timed("rmsnorm_grad", 0, [&] { inner_.rmsnorm_grad(args); });
}
void TimedOps::norm_stats(const NormStatsArgs& args) {
  timed("norm_stats", 0, [&] { inner_.norm_stats(args); });
}
void TimedOps::norm_combine(const NormCombineArgs& args) {
  timed("norm_combine", 0, [&] { inner_.norm_combine(args); });
}
void TimedOps::norm_apply(const NormArgs& args) {
  timed("norm_apply", 0, [&] { inner_.norm_apply(args); });
}
void TimedOps::norm_grad_sums(const NormGradArgs& args) {
  timed("norm_grad_sums", 0, [&] { inner_.norm_grad_sums(args); });
}
void TimedOps::norm_grad_apply(const NormGradArgs& args) {
  timed("norm_grad_apply", 0, [&] { inner_.norm_grad_apply(args); });
}
void TimedOps::rotary(const RotaryArgs& args) {
  timed("rotary", 0, [&] { inner_.rotary(args); });
}
void TimedOps::embedding(const EmbeddingArgs& args) {
  timed("embedding", 0, [&] { inner_.embedding(args); });
}
void TimedOps::embedding_grad(const EmbeddingGradArgs& args) {
  timed("embedding_grad", 0, [&] { inner_.embedding_grad(args); });
}
void TimedOps::softmax_stats(const SoftmaxStatsArgs& args) {
  timed("softmax_stats", 0, [&] { inner_.softmax_stats(args); });
}
void TimedOps::softmax_grad(const SoftmaxGradArgs& args) {
  timed("softmax_grad", 0, [&] { inner_.softmax_grad(args); });
}
void TimedOps::add(const View& a, const View& b, const View& out) {
  timed("add", 0, [&] { inner_.add(a, b, out); });
}
void TimedOps::bias_grad(const View& dy, const View& dbias) {
  timed("bias_grad", 0, [&] { inner_.bias_grad(dy, dbias); });
}
void TimedOps::adamw(const AdamwArgs& args) {
  timed("adamw", 0, [&] { inner_.adamw(args); });
}
void TimedOps::scale(const View& x, float factor) {
  timed("scale", 0, [&] { inner_.scale(x, factor); });
}
void TimedOps::cast(const View& from, const View& to) {
  timed("cast", 0, [&] { inner_.cast(from, to); });
}
void TimedOps::fill(const View& x, float value) {
  timed("fill", 0, [&] { inner_.fill(x, value); });
}
void TimedOps::axpby(float a, const View& x, float b, const View& y) {
  timed("axpby", 0, [&] { inner_.axpby(a, x, b, y); });
}
void TimedOps::symmetrize(const View& x) {
  timed("symmetrize", 0, [&] { inner_.symmetrize(x); });
}

double measure_product(Ops& ops, const Product& product, double seconds) {
  const auto matrix = [&](int64_t rows, int64_t columns, DType type) {
    Tensor tensor(ops.device(), type, {rows, columns});
    ops.fill(tensor, 0.5f);
    return tensor;
  };
  const bool ta = product.transpose_a, tb = product.transpose_b;
  const Tensor a = matrix(ta ? product.k : product.m, ta ? product.m : product.k, product.in);
  const Tensor b = matrix(tb ? product.n : product.k, tb ? product.k : product.n, product.in);
  const Tensor c = matrix(product.m, product.n, product.out);
  const Tensor bias = matrix(1, product.n, DType::f32).reshape({product.n});
  MatmulArgs args{.a = a, .b = b, .c = c, .transpose_a = ta, .transpose_b = tb, .bias = {}};
  args.accumulate = product.accumulate;
  args.b_is_weight = product.b_is_weight;
  if (product.bias) args.bias = bias;

  const Stopwatch total;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3 || total.seconds() < seconds; ++i) {
    const Stopwatch watch;
    ops.matmul(args);
    ops.device().synchronize();
    best = std::min(best, watch.seconds());
  }
  ops.weights_changed();  // forgets the packed copy of b, whose memory is about to go
  return best;
}

}  // namespace shoal
