#include <cmath>
#include <limits>

#include "ops/cpu/kernels.h"
#include "ops/cpu/loops.h"
#include "ops/cpu/vector_math.h"

namespace shoal::cpu {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// The target as a column of this block of the vocabulary, or -1.
int64_t local_target(int32_t target, int64_t first, int64_t columns) {
  return target >= 0 && target >= first && target < first + columns ? target - first : -1;
}

struct Statistics {
  float maximum, sum_exp;
};

// In one pass over memory: the sum is kept relative to the maximum so far, piece by piece.
Statistics row_statistics(const float* logits, int64_t columns) {
  constexpr int64_t piece = 2048;
  Statistics all{minus_infinity, 0.0f};
  for (int64_t begin = 0; begin < columns; begin += piece) {
    const float* const x = logits + begin;
    const int64_t n = std::min(piece, columns - begin);
    const float maximum = cpu::maximum(all.maximum, x, n);
    const float sum_exp = sum(n, [=](int64_t j) { return exp(x[j] - maximum); });
    all.sum_exp = (begin > 0 ? all.sum_exp * std::exp(all.maximum - maximum) : 0.0f) + sum_exp;
    all.maximum = maximum;
  }
  return all;
}

template <typename T>
void gradient_row(const float* logits, T* dlogits, int64_t columns, float lse, float factor) {
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j) store(dlogits + j, factor * exp(logits[j] - lse));
}

}  // namespace

void softmax_stats(const SoftmaxStatsArgs& args) {
  SHOAL_CHECK(args.logits.dtype == DType::f32);
  const int64_t rows = args.logits.dim(0), columns = args.logits.dim(1);
  parallel_for(rows, rows * columns, [&](int64_t i) {
    const float* const logits = row<float>(args.logits, i);
    const Statistics statistics = row_statistics(logits, columns);
    const int64_t target = local_target(args.targets.as<int32_t>()[i], args.first_column, columns);
    args.maximum.as<float>()[i] = statistics.maximum;
    args.sum_exp.as<float>()[i] = statistics.sum_exp;
    args.target_logit.as<float>()[i] = target < 0 ? 0.0f : logits[target];
  });
}

void softmax_grad(const SoftmaxGradArgs& args) {
  SHOAL_CHECK(args.logits.dtype == DType::f32);
  const int64_t rows = args.logits.dim(0), columns = args.logits.dim(1);
  with_type(args.dlogits.dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(rows, rows * columns, [&](int64_t i) {
      const float* const logits = row<float>(args.logits, i);
      T* const dlogits = row<T>(args.dlogits, i);
      const float weight = args.weight.as<float>()[i], lse = args.lse.as<float>()[i];
      if (weight == 0.0f) {
        std::fill_n(dlogits, columns, T(0.0f));
        return;
      }
      const float z = args.z_weight.defined() ? args.z_weight.as<float>()[i] : 0.0f;
      const float factor = weight + 2.0f * z * lse;
      const int64_t target = local_target(args.targets.as<int32_t>()[i], args.first_column, columns);
      // Read before the row is overwritten, and rounded once.
      const float at_target = target < 0 ? 0.0f : factor * exp(logits[target] - lse) - weight;
      gradient_row(logits, dlogits, columns, lse, factor);
      if (target >= 0) store(dlogits + target, at_target);
    });
  });
}

}  // namespace shoal::cpu
