#include <cmath>
#include <numeric>
#include <vector>

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
        eps(float(a.eps)),
        floor(float(a.eps * a.eps)) {}
  float gradient_scale, beta1, beta2, rest1, rest2, decay, step_size, root_scale, eps, floor;
};

// atan2(y, x) of x >= 0, within 3e-7: the arctangent of the smaller by the larger, by a polynomial in its
// square (Abramowitz and Stegun 4.4.49, 2e-8 on [0, 1]), reflected where |y| is the larger. 0 of (0, 0).
SHOAL_INLINE float arctangent(float y, float x) {
  const float size = std::abs(y);
  const float large = std::max(std::max(size, x), 1e-37f), small = std::min(size, x);
  const float t = small / large, s = t * t;
  float p = 0.0028662257f;
  p = p * s - 0.0161657367f;
  p = p * s + 0.0429096138f;
  p = p * s - 0.0752896400f;
  p = p * s + 0.1065626393f;
  p = p * s - 0.1420889944f;
  p = p * s + 0.1999355085f;
  p = p * s - 0.3333314528f;
  p = t + t * s * p;
  return std::copysign(size > x ? 1.57079632679f - p : p, y);
}

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

void update_atan2(const Step s, float* param, const float* grad, float* m, float* v, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float g = grad[i] * s.gradient_scale;
    const float first = s.beta1 * m[i] + s.rest1 * g;
    const float second = std::max(s.beta2 * v[i] + s.rest2 * (g * g), s.floor);
    m[i] = first;
    v[i] = second;
    param[i] = param[i] * s.decay - s.step_size * arctangent(first, std::sqrt(second) * s.root_scale);
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
      (args.atan2 ? update_atan2 : update)(step, param + at, grad + at, m + at, v + at, count);
      if (copies) round(param + at, copy + at, count);
    }
  });
}

double adam_relative_squares(const AdamwArgs& args) {
  const Step step(args);
  const Pieces<1> pieces({args.grad});
  std::vector<double> partial(static_cast<size_t>(pieces.count()));
  pieces.for_each([&](int64_t task, int64_t n, const std::array<int64_t, 1>& at) {
    const float *const grad = args.grad.as<float>() + at[0], *const v = args.v.as<float>() + at[0];
    partial[static_cast<size_t>(task)] = sum<double>(n, [=](int64_t i) {
      const float g = grad[i] * step.gradient_scale;
      return double(g * g / std::max(step.beta2 * v[i] + step.rest2 * (g * g), step.floor));
    });
  });
  return std::accumulate(partial.begin(), partial.end(), 0.0);
}

}  // namespace shoal::cpu
