#include <cblas.h>

#include <algorithm>

#include "base/error.h"
#include "ops/cpu/gemm.h"

namespace shoal::cpu {
namespace {

class CblasGemm final : public Gemm {
 public:
  std::string name() const override { return "CBLAS"; }
  bool supports(DType dtype) const override { return dtype == DType::f32; }
  void weights_changed() override {}

  void multiply(const MatmulArgs& args) override {
    if (args.a.dtype != DType::f32 || args.c.dtype != DType::f32) {
      runtime_failure(
          "matrix products in {} need a build with oneDNN (libdnnl-dev); this one has CBLAS, in f32",
          name_of(args.a.dtype));
    }
    const View& c = args.c;
    if (args.bias.defined()) start_with_bias(args);
    const auto transposed = [](bool t) { return t ? CblasTrans : CblasNoTrans; };
    const int64_t inner = args.a.dim(args.transpose_a ? 0 : 1);
    cblas_sgemm(CblasRowMajor, transposed(args.transpose_a), transposed(args.transpose_b), int(c.dim(0)),
                int(c.dim(1)), int(inner), 1.0f, args.a.as<float>(), leading(args.a), args.b.as<float>(),
                leading(args.b), args.accumulate || args.bias.defined() ? 1.0f : 0.0f, c.as<float>(),
                leading(c));
  }

 private:
  static int leading(const View& matrix) { return int(std::max(matrix.stride(0), matrix.dim(1))); }

  static void start_with_bias(const MatmulArgs& args) {
    const float* const bias = args.bias.as<float>();
    for (int64_t i = 0; i < args.c.dim(0); ++i) {
      float* const c = args.c.as<float>() + i * args.c.stride(0);
      for (int64_t j = 0; j < args.c.dim(1); ++j) c[j] = (args.accumulate ? c[j] : 0.0f) + bias[j];
    }
  }
};

}  // namespace

std::unique_ptr<Gemm> make_gemm(Device&) {
  return std::make_unique<CblasGemm>();
}

}  // namespace shoal::cpu
