// What whole and split norms share.
#pragma once

#include "ops/cpu/loops.h"
#include "ops/cpu/vector_math.h"
#include "ops/ops.h"

namespace shoal::cpu {

// The factor and the addend of each column, whatever the options.
struct Affine {
  Affine(Device& device, const View& weight, const View& bias, bool unit_offset)
      : memory(device, DType::f32, {2, weight.numel()}),
        gain(static_cast<float*>(memory.view().data)),
        shift(gain + weight.numel()) {
    const float* const w = weight.as<float>();
    const float* const b = bias.defined() ? bias.as<float>() : nullptr;
    for (int64_t j = 0; j < weight.numel(); ++j) {
      gain[j] = w[j] + (unit_offset ? 1.0f : 0.0f);
      shift[j] = b ? b[j] : 0.0f;
    }
  }
  Tensor memory;
  float *gain, *shift;
};

// Row i as f32 in values, and its sum. With a residual the sum is rounded to what the backward will read.
template <typename T, typename Args>
float read_row(const Args& args, int64_t i, float* values) {
  const int64_t columns = args.x.dim(1);
  const T* const x = row<T>(args.x, i);
  if (!args.residual.defined()) return sum(columns, [=](int64_t j) { return values[j] = load(x[j]); });
  const T* const residual = row<T>(args.residual, i);
  T* const stored = row<T>(args.sum, i);
  return sum(columns, [=](int64_t j) {
    const float value = load(x[j]) + load(residual[j]);
    store(stored + j, value);
    return values[j] = rounded<T>(value);
  });
}

}  // namespace shoal::cpu
