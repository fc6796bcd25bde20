#include <cmath>

#include "ops/cpu/kernels.h"
#include "ops/cpu/loops.h"
#include "ops/cpu/norm_rows.h"
#include "ops/cpu/vector_math.h"

namespace shoal::cpu {
namespace {

template <typename T, bool centred>
void norm_kernel(Device& device, const NormArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const Affine affine(device, args.weight, args.bias, args.unit_offset);
  const float *const gain = affine.gain, *const shift = affine.shift;
  const Tensor scratch(device, DType::f32, {omp_get_max_threads(), columns});
  parallel_for(rows, rows * columns, [&](int64_t i) {
    float* const values = row<float>(scratch, omp_get_thread_num());
    const float total = read_row<T>(args, i, values);
    const float mean = centred ? total / float(columns) : 0.0f;
    const float squares = sum(columns, [=](int64_t j) { return (values[j] - mean) * (values[j] - mean); });
    const float rstd = 1.0f / std::sqrt(squares / float(columns) + args.eps);
    T* const y = row<T>(args.y, i);
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) store(y + j, (values[j] - mean) * rstd * gain[j] + shift[j]);
    if (args.mean.defined()) args.mean.as<float>()[i] = mean;
    if (args.rstd.defined()) args.rstd.as<float>()[i] = rstd;
  });
}

template <typename T, bool centred>
struct NormGradRow {
  const T *x, *dy;
  T* dx;
  const float* gain;
  float mean, rstd;
  int64_t columns;

  SHOAL_INLINE float normalised(int64_t j) const { return (load(x[j]) - mean) * rstd; }

  // Adds to dweight and dbias, then writes (or adds) dx = rstd (g - mean(g) - n mean(g n)), with n the
  // normalised x and g = dy * gain; RMSNorm has no mean(g).
  template <bool accumulate>
  void run(float* dweight, float* dbias) const {
    float plain = 0.0f, projected = 0.0f;
#pragma omp simd reduction(+ : plain, projected)
    for (int64_t j = 0; j < columns; ++j) {
      const float gradient = load(dy[j]), n = normalised(j);
      dweight[j] += gradient * n;
      dbias[j] += gradient;
      plain += gradient * gain[j];
      projected += gradient * gain[j] * n;
    }
    plain = centred ? plain / float(columns) : 0.0f;
    projected /= float(columns);
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) {
      const float value = rstd * (load(dy[j]) * gain[j] - plain - normalised(j) * projected);
      store(dx + j, accumulate ? load(dx[j]) + value : value);
    }
  }
};

template <typename T, bool centred>
void norm_grad_kernel(Device& device, const NormGradArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const Affine affine(device, args.weight, {}, args.unit_offset);
  const ColumnSums sums(device, rows, 2 * columns);  // of weight, then of bias
  parallel_for(sums.blocks(), rows * columns, [&](int64_t block) {
    const int64_t begin = block * ColumnSums::block_rows,
                  end = std::min(begin + ColumnSums::block_rows, rows);
    float* const dweight = sums.block(block);
    float* const dbias = dweight + columns;
    std::fill_n(dweight, 2 * columns, 0.0f);
    for (int64_t i = begin; i < end; ++i) {
      const NormGradRow<T, centred> kernel{.x = row<T>(args.x, i),
                                           .dy = row<T>(args.dy, i),
                                           .dx = row<T>(args.dx, i),
                                           .gain = affine.gain,
                                           .mean = centred ? args.mean.as<float>()[i] : 0.0f,
                                           .rstd = args.rstd.as<float>()[i],
                                           .columns = columns};
      args.accumulate_dx ? kernel.template run<true>(dweight, dbias)
                         : kernel.template run<false>(dweight, dbias);
    }
  });
  if (args.dweight.defined()) sums.add_to(args.dweight);
  if (args.dbias.defined()) sums.add_to(args.dbias, columns);
}

}  // namespace

void layernorm(Device& device, const NormArgs& args) {
  with_type(args.x.dtype, [&](auto x) { norm_kernel<decltype(x), true>(device, args); });
}
void layernorm_grad(Device& device, const NormGradArgs& args) {
  with_type(args.x.dtype, [&](auto x) { norm_grad_kernel<decltype(x), true>(device, args); });
}
void rmsnorm(Device& device, const NormArgs& args) {
  with_type(args.x.dtype, [&](auto x) { norm_kernel<decltype(x), false>(device, args); });
}
void rmsnorm_grad(Device& device, const NormGradArgs& args) {
  with_type(args.x.dtype, [&](auto x) { norm_grad_kernel<decltype(x), false>(device, args); });
}

}  // namespace shoal::cpu
