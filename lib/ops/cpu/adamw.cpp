#include <cmath>

#include "ops/cpu/kernels.h"
#include "ops/cpu/loops.h"
#include "ops/cpu/vector_math.h"

namespace shoal::cpu {
namespace {

// The step in f32, with everything that does not depend on the element folded before.
struct Step {
  explicit Step(const AdamwArgs& a)
      : gradient_scale(float(a.gradient_scale)),
        beta1(float(a.beta1)),
        beta2(float(a.beta2)),
        rest1(float(1.0 - a.beta1)),
        rest2(float(1.0 - a.beta2)),
        decay(float(1.0 - a.lr * a.weight_decay)),
        step_size(float(a.lr / a.correction1)),
        root_scale(float(1.0 / std::sqrt(a.correction2))),
        eps(float(a.eps)) {}
  float gradient_scale, beta1, beta2, rest1, rest2, decay, step_size, root_scale, eps;
};

void update(const Step s, float* param, const float* grad, float* m, float* v, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float g = grad[i] * s.gradient_scale;
    const float first = s.beta1 * m[i] + s.rest1 * g;
    const float second = s.beta2 * v[i] + s.rest2 * (g * g);
    m[i] = first;
    v[i] = second;
    param[i] = param[i] * s.decay - s.step_size * first / (std::sqrt(second) * s.root_scale + s.eps);
  }
}

void round(const float* from, bf16* to, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) store(to + i, from[i]);
}

}  // namespace

void adamw(const AdamwArgs& args) {
  const Step step(args);
  const bool copies = args.copy.defined();
  float *const param = args.param.as<float>(), *const m = args.m.as<float>(), *const v = args.v.as<float>();
  const float* const grad = args.grad.as<float>();
  bf16* const copy = copies ? args.copy.as<bf16>() : nullptr;
  Pieces<1>({args.param}).for_each([&](int64_t, int64_t n, const std::array<int64_t, 1>& offset) {
    // The copy is made while the parameters are in the first-level cache.
    constexpr int64_t block = 1024;
    for (int64_t begin = 0; begin < n; begin += block) {
      const int64_t at = offset[0] + begin, count = std::min(block, n - begin);
      update(step, param + at, grad + at, m + at, v + at, count);
      if (copies) round(param + at, copy + at, count);
    }
  });
}

}  // namespace shoal::cpu
