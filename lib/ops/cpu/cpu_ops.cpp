#include "ops/cpu/cpu_ops.h"

#include "device/cpu/cpu_device.h"
#include "ops/cpu/attention.h"
#include "ops/cpu/gemm.h"
#include "ops/cpu/kernels.h"

namespace shoal {
namespace {

class CpuOps final : public Ops {
 public:
  explicit CpuOps(Device& device) : device_(device), gemm_(cpu::make_gemm(device)) {}

  std::string name() const override { return "cpu"; }
  Device& device() override { return device_; }
  bool supports(Op op, DType dtype) const override {
    if (op == Op::matmul) return gemm_->supports(dtype);
    return dtype == DType::f32 || dtype == DType::bf16;
  }

  void matmul(const MatmulArgs& args) override;
  void weights_changed() override { gemm_->weights_changed(); }
  void activation(const ActivationArgs& args) override { cpu::activation(args); }
  void activation_grad(const ActivationGradArgs& args) override { cpu::activation_grad(device_, args); }
  void glu(const GluArgs& args) override { cpu::glu(args); }
  void glu_grad(const GluGradArgs& args) override { cpu::glu_grad(args); }
  void layernorm(const NormArgs& args) override { cpu::layernorm(device_, args); }
  void layernorm_grad(const NormGradArgs& args) override { cpu::layernorm_grad(device_, args); }
  void rmsnorm(const NormArgs& args) override { cpu::rmsnorm(device_, args); }
  void rmsnorm_grad(const NormGradArgs& args) override { cpu::rmsnorm_grad(device_, args); }
  void norm_stats(const NormStatsArgs& args) override { cpu::norm_stats(device_, args); }
  void norm_combine(const NormCombineArgs& args) override { cpu::norm_combine(args); }
  void norm_apply(const NormArgs& args) override { cpu::norm_apply(device_, args); }
  void norm_grad_sums(const NormGradArgs& args) override { cpu::norm_grad_sums(device_, args); }
  void norm_grad_apply(const NormGradArgs& args) override { cpu::norm_grad_apply(device_, args); }
  void rotary(const RotaryArgs& args) override { rotary_(args); }
  void attention(const AttentionArgs& args) override { cpu::attention(device_, args); }
  void attention_grad(const AttentionGradArgs& args) override { cpu::attention_grad(device_, args); }
  void embedding(const EmbeddingArgs& args) override { cpu::embedding(args); }
  void embedding_grad(const EmbeddingGradArgs& args) override { cpu::embedding_grad(args); }
  void softmax_stats(const SoftmaxStatsArgs& args) override { cpu::softmax_stats(args); }
  void softmax_grad(const SoftmaxGradArgs& args) override { cpu::softmax_grad(args); }
  void add(const View& a, const View& b, const View& out) override { cpu::add(a, b, out); }
  void bias_grad(const View& dy, const View& dbias) override { cpu::bias_grad(device_, dy, dbias); }
  void adamw(const AdamwArgs& args) override { cpu::adamw(args); }
  double adam_relative_squares(const AdamwArgs& args) override { return cpu::adam_relative_squares(args); }
  double sum_squares(const View& x) override { return cpu::sum_squares(x); }
  void scale(const View& x, float factor) override { cpu::scale(x, factor); }
  void cast(const View& from, const View& to) override { cpu::cast(from, to); }
  void fill(const View& x, float value) override { cpu::fill(x, value); }
  void axpby(float a, const View& x, float b, const View& y) override { cpu::axpby(a, x, b, y); }
  void symmetrize(const View& x) override { cpu::symmetrize(x); }

 private:
  Device& device_;
  std::unique_ptr<cpu::Gemm> gemm_;
  cpu::Rotary rotary_;
};

void CpuOps::matmul(const MatmulArgs& args) {
  const int64_t inner = args.a.dim(args.transpose_a ? 0 : 1);
  SHOAL_CHECK(args.a.dim(args.transpose_a ? 1 : 0) == args.c.dim(0));
  SHOAL_CHECK(args.b.dim(args.transpose_b ? 1 : 0) == inner);
  SHOAL_CHECK(args.b.dim(args.transpose_b ? 0 : 1) == args.c.dim(1));
  SHOAL_CHECK(args.a.dtype == args.b.dtype && (args.c.dtype == args.a.dtype || args.c.dtype == DType::f32));
  SHOAL_CHECK(inner > 0);
  if (args.c.numel() > 0) gemm_->multiply(args);
}

}  // namespace

std::unique_ptr<Ops> make_cpu_ops(Device& device) {
  return std::make_unique<CpuOps>(device);
}

std::string cpu_gemm_name() {
  CpuDevice device;
  return cpu::make_gemm(device)->name();
}

}  // namespace shoal
