#include "ops/measure/measure.h"

namespace shoal {
namespace {

// Makes the calls and counts the bytes that each reads and writes.
class Calls {
 public:
  Calls(Ops& ops, DType dtype, const StepShape& shape) : ops_(ops), type_(dtype), s_(shape) {}

  std::vector<KernelCall> all() {
    activations();
    norms();
    attention();
    vocabulary();
    optimizer();
    return std::move(calls_);
  }

 private:
  static constexpr DType f32 = DType::f32;

  Tensor make(DType dtype, const Shape& shape, float value = 0.5f) {
    Tensor tensor(ops_.device(), dtype, shape);
    ops_.fill(tensor, value);
    return tensor;
  }
  Tensor tokens(int64_t count, int64_t below) {
    Tensor tensor(ops_.device(), DType::i32, {count});
    std::vector<int32_t> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = int32_t(i * 7919 % size_t(below));
    ops_.device().to_device(tensor.view().data, values.data(), tensor.view().bytes());
    return tensor;
  }
  void add(std::string name, double count, int64_t bytes, std::function<void(Ops&)> run) {
    calls_.push_back({std::move(name), count, bytes, std::move(run)});
  }
  static int64_t sum() { return 0; }
  template <typename... Rest>
  static int64_t sum(const Tensor& first, const Rest&... rest) {
    return first.view().bytes() + sum(rest...);
  }

  void activations() {
    const int64_t M = s_.rows(), F = s_.intermediate;
    const Tensor x = make(type_, {M, F}), y = make(type_, {M, F}), dy = make(type_, {M, F});
    const Tensor bias = make(f32, {F}), dbias = make(f32, {F});
    const auto layers = double(s_.layers);
    for (const auto& [name, kind] :
         {std::pair("gelu", Activation::gelu), std::pair("silu", Activation::silu)}) {
      const double count = kind == Activation::gelu ? layers : 0;
      const std::string text = name;
      // The backward computes it again.
      add(text, 2 * count, sum(x, y),
          [=, kind = kind](Ops& ops) { ops.activation({.kind = kind, .x = x, .bias = bias, .y = y}); });
      add(text + "_grad", count, sum(x, dy, dy), [=, kind = kind](Ops& ops) {
        ops.activation_grad({.kind = kind, .x = x, .bias = bias, .dy = dy, .dx = dy, .dbias = dbias});
      });
    }
    const Tensor gates = make(type_, {M, 2, F}), dgates = make(type_, {M, 2, F});
    add("swiglu", 0, sum(gates, y),
        [=](Ops& ops) { ops.glu({.kind = Activation::silu, .x = gates, .y = y}); });
    add("swiglu_grad", 0, sum(gates, dy, dgates),
        [=](Ops& ops) { ops.glu_grad({.kind = Activation::silu, .x = gates, .dy = dy, .dx = dgates}); });
    const Tensor qkv = make(type_, {M, 3 * s_.hidden}), dqkv = make(f32, {3 * s_.hidden});
    add("bias_grad", layers, sum(qkv), [=](Ops& ops) { ops.bias_grad(qkv, dqkv); });
  }

  void norms() {
    const int64_t M = s_.rows(), H = s_.hidden;
    const Tensor x = make(type_, {M, H}), residual = make(type_, {M, H}), y = make(type_, {M, H});
    const Tensor sum_out = make(type_, {M, H});
    const Tensor weight = make(f32, {H}), bias = make(f32, {H}), mean = make(f32, {M}), rstd = make(f32, {M});
    const Tensor dweight = make(f32, {H}), dbias = make(f32, {H});
    const NormArgs plain{.x = x, .weight = weight, .bias = bias, .y = y, .mean = mean, .rstd = rstd};
    NormArgs added = plain;
    added.residual = residual, added.sum = sum_out;
    const NormGradArgs grad{.x = x,
                            .weight = weight,
                            .mean = mean,
                            .rstd = rstd,
                            .dy = residual,
                            .dx = y,
                            .accumulate_dx = true,
                            .dweight = dweight,
                            .dbias = dbias};
    const auto keep = [=] { return sum(x, residual, y, sum_out, weight, bias, mean, rstd, dweight, dbias); };
    const auto layers = double(s_.layers);
    add("layernorm", 3 * layers, sum(x, y), [=](Ops& ops) { keep(), ops.layernorm(plain); });
    add("layernorm+residual", layers, sum(x, residual, sum_out, y),
        [=](Ops& ops) { keep(), ops.layernorm(added); });
    add("layernorm_grad", 2 * layers, sum(x, residual, y, y),
        [=](Ops& ops) { keep(), ops.layernorm_grad(grad); });
    add("rmsnorm", 0, sum(x, y), [=](Ops& ops) { keep(), ops.rmsnorm(plain); });
    add("rmsnorm_grad", 0, sum(x, residual, y, y), [=](Ops& ops) { keep(), ops.rmsnorm_grad(grad); });
    add("add", 0, sum(x, residual, y), [=](Ops& ops) { ops.add(x, residual, y); });
  }

  void attention() {
    const int64_t B = s_.batch, T = s_.sequence, N = s_.heads, D = s_.hidden / s_.heads;
    const Tensor qkv = make(type_, {B, T, N, 3, D}), dqkv = make(type_, {B, T, N, 3, D});
    const Tensor out = make(type_, {B, T, N, 1, D}), dout = make(type_, {B, T, N, 1, D});
    const Tensor lse = make(f32, {B, N, 1, T}, 5.0f);
    const auto head = [](const View& all, int64_t i) {
      const View one = all.slice(3, i, 1);
      return View(one.data, one.dtype, {one.dim(0), one.dim(1), one.dim(2), one.dim(4)},
                  {one.stride(0), one.stride(1), one.stride(2), one.stride(4)});
    };
    const AttentionArgs args{.q = qkv.view().slice(3, 0, 1),
                             .k = head(qkv, 1),
                             .v = head(qkv, 2),
                             .out = out,
                             .lse = lse,
                             .scale = 0.125f};
    const AttentionGradArgs grad{.q = args.q,
                                 .k = args.k,
                                 .v = args.v,
                                 .out = out,
                                 .lse = lse,
                                 .dout = dout,
                                 .dq = dqkv.view().slice(3, 0, 1),
                                 .dk = head(dqkv, 1),
                                 .dv = head(dqkv, 2),
                                 .scale = 0.125f};
    const auto layers = double(s_.layers);
    const auto keep = [=] { return sum(qkv, dqkv, out, dout, lse); };
    add("attention", layers, sum(qkv, out), [=](Ops& ops) { keep(), ops.attention(args); });
    add("attention_grad", layers, sum(qkv, out, dout, dqkv),
        [=](Ops& ops) { keep(), ops.attention_grad(grad); });
    const View turned = qkv.view().slice(3, 0, 2);
    add("rotary, a quarter", 2 * layers, 2 * turned.bytes() / 4,
        [=](Ops& ops) { keep(), ops.rotary({.x = turned, .rotary_dims = turned.dim(4) / 4}); });
    add("rotary, whole", 0, 2 * turned.bytes(),
        [=](Ops& ops) { keep(), ops.rotary({.x = turned, .rotary_dims = turned.dim(4)}); });
  }

  void vocabulary() {
    const int64_t M = s_.rows(), H = s_.hidden, V = s_.vocab, R = s_.head_rows;
    const Tensor ids = tokens(M, V), table = make(type_, {V, H}), x = make(type_, {M, H}),
                 dtable = make(f32, {V, H});
    add("embedding", 1, 2 * x.view().bytes(),
        [=](Ops& ops) { ops.embedding({.tokens = ids, .table = table, .y = x}); });
    add("embedding_grad", 1, x.view().bytes() + 2 * M * H * size_of(f32),
        [=](Ops& ops) { ops.embedding_grad({.tokens = ids, .dy = x, .dtable = dtable}); });
    const Tensor logits = make(f32, {R, V}), dlogits = type_ == f32 ? logits : make(type_, {R, V});
    const Tensor statistics = make(f32, {4, R}, 1.0f), targets = tokens(R, V);
    const auto row = [R](const Tensor& t, int64_t i) { return View(t.view().as<float>() + i * R, f32, {R}); };
    const double chunks = double(M) / double(R);
    add("softmax_stats", chunks, sum(logits), [=](Ops& ops) {
      ops.softmax_stats({.logits = logits,
                         .targets = targets,
                         .maximum = row(statistics, 0),
                         .sum_exp = row(statistics, 1),
                         .target_logit = row(statistics, 2)});
    });
    add("softmax_grad", chunks, sum(logits, dlogits), [=](Ops& ops) {
      ops.softmax_grad({.logits = logits,
                        .targets = targets,
                        .lse = row(statistics, 0),
                        .weight = row(statistics, 3),
                        .dlogits = dlogits});
    });
  }

  void optimizer() {
    const int64_t N =
        s_.layers * s_.hidden * (4 * s_.hidden + 2 * s_.intermediate) + 2 * s_.vocab * s_.hidden;
    const Tensor param = make(f32, {N}), grad = make(f32, {N}), m = make(f32, {N}), v = make(f32, {N});
    const Tensor copy = type_ == f32 ? Tensor() : make(type_, {N});
    AdamwArgs args{.param = param,
                   .grad = grad,
                   .m = m,
                   .v = v,
                   .copy = copy,
                   .lr = 1e-3,
                   .weight_decay = 0.1,
                   .correction1 = 0.1,
                   .correction2 = 0.05};
    const auto keep = [=] { return sum(param, grad, m, v) + (copy.defined() ? sum(copy) : 0); };
    add("adamw", 1, keep() + sum(param, m, v), [=](Ops& ops) { keep(), ops.adamw(args); });
    add("sum_squares", 1, sum(grad), [=](Ops& ops) { ops.sum_squares(grad); });
    add("fill", 0, sum(grad), [=](Ops& ops) { ops.fill(grad, 0.5f); });
    if (copy.defined()) add("cast", 0, sum(param, copy), [=](Ops& ops) { ops.cast(param, copy); });
  }

  Ops& ops_;
  DType type_;
  StepShape s_;
  std::vector<KernelCall> calls_;
};

}  // namespace

std::vector<KernelCall> kernels_of(Ops& ops, DType dtype, const StepShape& shape) {
  return Calls(ops, dtype, shape).all();
}

}  // namespace shoal
