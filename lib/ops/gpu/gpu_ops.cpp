#include "ops/gpu/gpu_ops.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "ops/gpu/kernels.h"

namespace shoal {
namespace {

constexpr int64_t partial_sums = 64;

class GpuOps final : public Ops {
 public:
  explicit GpuOps(GpuDevice& device) : device_(device) {}

  std::string name() const override { return device_.name(); }
  Device& device() override { return device_; }
  bool supports(Op op, DType dtype) const override {
    const bool f32_only = op == Op::axpby || op == Op::symmetrize || op == Op::adam_relative_squares;
    return dtype == DType::f32 || (dtype == DType::bf16 && !f32_only);
  }

  void matmul(const MatmulArgs& args) override { gpu::matmul(stream(), args); }
  void weights_changed() override {}
  void activation(const ActivationArgs& args) override { gpu::activation(stream(), args); }
  void activation_grad(const ActivationGradArgs& args) override { gpu::activation_grad(stream(), args); }
  void glu(const GluArgs& args) override { gpu::glu(stream(), args); }
  void glu_grad(const GluGradArgs& args) override { gpu::glu_grad(stream(), args); }
  void layernorm(const NormArgs& args) override { gpu::norm(stream(), args, true); }
  void layernorm_grad(const NormGradArgs& args) override { gpu::norm_grad(stream(), args, true); }
  void rmsnorm(const NormArgs& args) override { gpu::norm(stream(), args, false); }
  void rmsnorm_grad(const NormGradArgs& args) override { gpu::norm_grad(stream(), args, false); }
  void norm_stats(const NormStatsArgs& args) override { gpu::norm_stats(stream(), args); }
  void norm_combine(const NormCombineArgs& args) override {
    const std::vector<float> columns(args.columns.begin(), args.columns.end());
    const Tensor on_device = upload(columns);
    gpu::norm_combine(stream(), args, on_device);
  }
  void norm_apply(const NormArgs& args) override { gpu::norm_apply(stream(), args); }
  void norm_grad_sums(const NormGradArgs& args) override { gpu::norm_grad_sums(stream(), args); }
  void norm_grad_apply(const NormGradArgs& args) override { gpu::norm_grad_apply(stream(), args); }
  void rotary(const RotaryArgs& args) override;
  void attention(const AttentionArgs& args) override { gpu::attention(stream(), args); }
  void attention_grad(const AttentionGradArgs& args) override {
    const Tensor delta(device_, DType::f32, args.lse.shape);
    gpu::attention_grad(stream(), args, delta);
  }
  void embedding(const EmbeddingArgs& args) override { gpu::embedding(stream(), args); }
  void embedding_grad(const EmbeddingGradArgs& args) override { gpu::embedding_grad(stream(), args); }
  void softmax_stats(const SoftmaxStatsArgs& args) override { gpu::softmax_stats(stream(), args); }
  void softmax_grad(const SoftmaxGradArgs& args) override { gpu::softmax_grad(stream(), args); }
  void add(const View& a, const View& b, const View& out) override { gpu::add(stream(), a, b, out); }
  void bias_grad(const View& dy, const View& dbias) override { gpu::column_sums(stream(), dy, dbias); }
  void adamw(const AdamwArgs& args) override { gpu::adamw(stream(), args); }
  double adam_relative_squares(const AdamwArgs& args) override {
    return summed([&](const View& partial) { gpu::adam_relative_squares(stream(), args, partial); });
  }
  double sum_squares(const View& x) override {
    return summed([&](const View& partial) { gpu::sum_squares(stream(), x, partial); });
  }
  void scale(const View& x, float factor) override { gpu::scale(stream(), x, factor); }
  void cast(const View& from, const View& to) override { gpu::cast(stream(), from, to); }
  void fill(const View& x, float value) override { gpu::fill(stream(), x, value); }
  void axpby(float a, const View& x, float b, const View& y) override { gpu::axpby(stream(), a, x, b, y); }
  void symmetrize(const View& x) override { gpu::symmetrize(stream(), x); }

 private:
  struct Angles {
    int64_t positions = 0;
    Tensor cosine, sine;  // [positions, rotary_dims / 2]
  };

  gpu::Stream stream() const { return device_.stream(); }

  Tensor upload(const std::vector<float>& values) {
    const auto count = static_cast<int64_t>(values.size());
    Tensor tensor(device_, DType::f32, Shape{count});
    device_.to_device(tensor.view().data, values.data(), tensor.view().bytes());
    return tensor;
  }

  // Every block of a kernel leaves the sum of its part; the host adds them up in order.
  template <typename Call>
  double summed(Call call) {
    const Tensor partial(device_, DType::f64, Shape{partial_sums});
    call(partial.view());
    std::vector<double> parts(partial_sums);
    device_.to_host(parts.data(), partial.view().data, partial.view().bytes());
    double sum = 0;
    for (double part : parts) sum += part;
    return sum;
  }

  GpuDevice& device_;
  std::map<std::pair<int64_t, double>, Angles> angles_;
};

void GpuOps::rotary(const RotaryArgs& args) {
  if (args.rotary_dims < 2 || args.x.numel() == 0) return;
  const int64_t pairs = args.rotary_dims / 2, needed = args.first_position + args.x.dim(1);
  Angles& angles = angles_[{args.rotary_dims, args.base}];
  if (angles.positions < needed) {
    angles.positions = std::max(needed, angles.positions * 3 / 2);  // generation asks for one more each time
    std::vector<float> cosine, sine;
    for (int64_t i = 0; i < angles.positions * pairs; ++i) {
      const double frequency = std::pow(args.base, -2.0 * double(i % pairs) / double(args.rotary_dims));
      cosine.push_back(float(std::cos(double(i / pairs) * frequency)));
      sine.push_back(float(std::sin(double(i / pairs) * frequency)));
    }
    angles.cosine = upload(cosine);
    angles.sine = upload(sine);
  }
  gpu::rotary(stream(), args, angles.cosine.view().as<float>(), angles.sine.view().as<float>());
}

}  // namespace

std::unique_ptr<Ops> make_gpu_ops(GpuDevice& device) {
  return std::make_unique<GpuOps>(device);
}

}  // namespace shoal
