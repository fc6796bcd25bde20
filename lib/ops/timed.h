// Operations with a clock: passes every call on and books its time and its arithmetic by kind and shape.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ops/ops.h"

namespace shoal {

struct OpTime {
  int64_t calls = 0;
  double seconds = 0;
  double flops = 0;  // of matrix products and attention; 0 for the rest, which only move memory
};

// A matrix product as far as its speed goes.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  DType in = DType::f32, out = DType::f32;
  bool transpose_a = false, transpose_b = false, accumulate = false, bias = false, b_is_weight = false;
  auto operator<=>(const Product&) const = default;
};
std::string to_string(const Product& product);  // "2048 x 1536 x 512 bf16, B transposed"

class TimedOps final : public Ops {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Observer = std::function<void(const char* kind, Time begin, Time end)>;

  explicit TimedOps(Ops& inner, Observer observer = {}) : inner_(inner), observer_(std::move(observer)) {}

  const std::map<std::string, OpTime>& kinds() const { return kinds_; }  // "matmul", "attention_grad"
  const std::map<Product, OpTime>& products() const { return products_; }
  void reset();

  std::string name() const override { return inner_.name(); }
  Device& device() override { return inner_.device(); }
  bool supports(Op op, DType dtype) const override { return inner_.supports(op, dtype); }

  void matmul(const MatmulArgs& args) override;
  void weights_changed() override;
  void activation(const ActivationArgs& args) override;
  void activation_grad(const ActivationGradArgs& args) override;
  void glu(const GluArgs& args) override;
  void glu_grad(const GluGradArgs& args) override;
  void layernorm(const NormArgs& args) override;
  void layernorm_grad(const NormGradArgs& args) override;
  void rmsnorm(const NormArgs& args) override;
  void rmsnorm_grad(const NormGradArgs& args) override;
  void norm_stats(const NormStatsArgs& args) override;
  void norm_combine(const NormCombineArgs& args) override;
  void norm_apply(const NormArgs& args) override;
  void norm_grad_sums(const NormGradArgs& args) override;
  void norm_grad_apply(const NormGradArgs& args) override;
  void rotary(const RotaryArgs& args) override;
  void attention(const AttentionArgs& args) override;
  void attention_grad(const AttentionGradArgs& args) override;
  void embedding(const EmbeddingArgs& args) override;
  void embedding_grad(const EmbeddingGradArgs& args) override;
  void softmax_stats(const SoftmaxStatsArgs& args) override;
  void softmax_grad(const SoftmaxGradArgs& args) override;
  void add(const View& a, const View& b, const View& out) override;
  void bias_grad(const View& dy, const View& dbias) override;
  void adamw(const AdamwArgs& args) override;
  double adam_relative_squares(const AdamwArgs& args) override;
  double sum_squares(const View& x) override;
  void scale(const View& x, float factor) override;
  void cast(const View& from, const View& to) override;
  void fill(const View& x, float value) override;
  void axpby(float a, const View& x, float b, const View& y) override;
  void symmetrize(const View& x) override;

 private:
  // Runs the call and waits for it; returns its seconds.
  template <typename Call>
  double timed(const char* kind, double flops, Call call);

  Ops& inner_;
  Observer observer_;
  std::map<std::string, OpTime> kinds_;
  std::map<Product, OpTime> products_;
};

// The seconds of one such product alone, on memory of its own: the best of the repetitions that fit into
// `seconds`, three at least.
double measure_product(Ops& ops, const Product& product, double seconds);

}  // namespace shoal
