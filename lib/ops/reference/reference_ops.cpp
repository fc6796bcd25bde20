#include "ops/reference/reference_ops.h"

#include "ops/reference/kernels.h"

namespace shoal {
namespace {

class ReferenceOps final : public Ops {
 public:
  explicit ReferenceOps(Device& device) : device_(device) {}

  std::string name() const override { return "reference"; }
  Device& device() override { return device_; }
  bool supports(Op, DType dtype) const override {
    return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f64;
  }

  void matmul(const MatmulArgs& args) override { reference::matmul(args); }
  void weights_changed() override {}
  void activation(const ActivationArgs& args) override { reference::activation(args); }
  void activation_grad(const ActivationGradArgs& args) override { reference::activation_grad(args); }
  void glu(const GluArgs& args) override { reference::glu(args); }
  void glu_grad(const GluGradArgs& args) override { reference::glu_grad(args); }
  void layernorm(const NormArgs& args) override { reference::layernorm(args); }
  void layernorm_grad(const NormGradArgs& args) override { reference::layernorm_grad(args); }
  void rmsnorm(const NormArgs& args) override { reference::rmsnorm(args); }
  void rmsnorm_grad(const NormGradArgs& args) override { reference::rmsnorm_grad(args); }
  void norm_stats(const NormStatsArgs& args) override { reference::norm_stats(args); }
  void norm_combine(const NormCombineArgs& args) override { reference::norm_combine(args); }
  void norm_apply(const NormArgs& args) override { reference::norm_apply(args); }
  void norm_grad_sums(const NormGradArgs& args) override { reference::norm_grad_sums(args); }
  void norm_grad_apply(const NormGradArgs& args) override { reference::norm_grad_apply(args); }
  void rotary(const RotaryArgs& args) override { reference::rotary(args); }
  void attention(const AttentionArgs& args) override { reference::attention(args); }
  void attention_grad(const AttentionGradArgs& args) override { reference::attention_grad(args); }
  void embedding(const EmbeddingArgs& args) override { reference::embedding(args); }
  void embedding_grad(const EmbeddingGradArgs& args) override { reference::embedding_grad(args); }
  void softmax_stats(const SoftmaxStatsArgs& args) override { reference::softmax_stats(args); }
  void softmax_grad(const SoftmaxGradArgs& args) override { reference::softmax_grad(args); }
  void add(const View& a, const View& b, const View& out) override { reference::add(a, b, out); }
  void bias_grad(const View& dy, const View& dbias) override { reference::bias_grad(dy, dbias); }
  void adamw(const AdamwArgs& args) override { reference::adamw(args); }
  double adam_relative_squares(const AdamwArgs& args) override {
    return reference::adam_relative_squares(args);
  }
  double sum_squares(const View& x) override { return reference::sum_squares(x); }
  void scale(const View& x, float factor) override { reference::scale(x, double(factor)); }
  void cast(const View& from, const View& to) override { reference::cast(from, to); }
  void axpby(float a, const View& x, float b, const View& y) override {
    reference::axpby(double(a), x, double(b), y);
  }
  void symmetrize(const View& x) override { reference::symmetrize(x); }
  void fill(const View& x, float value) override { reference::fill(x, double(value)); }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Ops> make_reference_ops(Device& device) {
  return std::make_unique<ReferenceOps>(device);
}

}  // namespace shoal
