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

// One row of a norm's backward, in the two passes that a split norm has to part. With n the normalised x and
// g = dy * gain:  dx = rstd (g - mean(g) - n mean(g n)); RMSNorm has no mean(g), and a mean of 0.
template <typename T>
struct NormGradRow {
  const T *x, *dy;
  T* dx;
  const float* gain;
  float mean, rstd;
  int64_t columns;

  struct Sums {
    float plain = 0.0f, projected = 0.0f;  // of g, and of g n
  };

  SHOAL_INLINE float normalised(int64_t j) const { return (load(x[j]) - mean) * rstd; }

  // Adds to dweight and dbias.
  SHOAL_INLINE Sums sums(float* dweight, float* dbias) const {
    float plain = 0.0f, projected = 0.0f;
#pragma omp simd reduction(+ : plain, projected)
    for (int64_t j = 0; j < columns; ++j) {
      const float gradient = load(dy[j]), n = normalised(j);
      dweight[j] += gradient * n;
      dbias[j] += gradient;
      plain += gradient * gain[j];
      projected += gradient * gain[j] * n;
    }
    return {plain, projected};
  }

  // Writes or adds dx, given the means over all columns.
  template <bool accumulate>
  SHOAL_INLINE void apply(Sums means) const {
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) {
      const float value = rstd * (load(dy[j]) * gain[j] - means.plain - normalised(j) * means.projected);
      store(dx + j, accumulate ? load(dx[j]) + value : value);
    }
  }
};

template <typename T>
NormGradRow<T> norm_grad_row(const NormGradArgs& args, int64_t i, const float* gain) {
  return {.x = row<T>(args.x, i),
          .dy = row<T>(args.dy, i),
          .dx = args.dx.defined() ? row<T>(args.dx, i) : nullptr,
          .gain = gain,
          .mean = args.mean.defined() ? args.mean.as<float>()[i] : 0.0f,
          .rstd = args.rstd.as<float>()[i],
          .columns = args.x.dim(1)};
}

// Calls each_row(i, dweight, dbias) for every row, the two being sums of a block of rows, and adds their
// total to the gradients.
template <typename EachRow>
void with_column_sums(Device& device, const NormGradArgs& args, EachRow each_row) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const ColumnSums sums(device, rows, 2 * columns);  // of weight, then of bias
  parallel_for(sums.blocks(), rows * columns, [&](int64_t block) {
    const int64_t begin = block * ColumnSums::block_rows,
                  end = std::min(begin + ColumnSums::block_rows, rows);
    float* const dweight = sums.block(block);
    std::fill_n(dweight, 2 * columns, 0.0f);
    for (int64_t i = begin; i < end; ++i) each_row(i, dweight, dweight + columns);
  });
  if (args.dweight.defined()) sums.add_to(args.dweight);
  if (args.dbias.defined()) sums.add_to(args.dbias, columns);
}

}  // namespace shoal::cpu
