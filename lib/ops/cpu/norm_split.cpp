#include <cmath>

#include "ops/cpu/kernels.h"
#include "ops/cpu/norm_rows.h"

namespace shoal::cpu {
namespace {

float mean_of(const View& mean, int64_t i) {
  return mean.defined() ? mean.as<float>()[i] : 0.0f;
}

template <typename T>
void stats_kernel(Device& device, const NormStatsArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const Tensor scratch(device, DType::f32, {omp_get_max_threads(), columns});
  parallel_for(rows, rows * columns, [&](int64_t i) {
    float* const values = row<float>(scratch, omp_get_thread_num());
    const float total = read_row<T>(args, i, values);
    const float mean = args.centred ? total / float(columns) : 0.0f;
    float* const stats = row<float>(args.stats, i);
    stats[0] = mean;
    stats[1] = sum(columns, [=](int64_t j) { return (values[j] - mean) * (values[j] - mean); });
  });
}

template <typename T>
void apply_kernel(Device& device, const NormArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const Affine affine(device, args.weight, args.bias, args.unit_offset);
  const float *const gain = affine.gain, *const shift = affine.shift;
  parallel_for(rows, rows * columns, [&](int64_t i) {
    const float mean = mean_of(args.mean, i), rstd = args.rstd.as<float>()[i];
    const T* const x = row<T>(args.x, i);
    T* const y = row<T>(args.y, i);
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) store(y + j, (load(x[j]) - mean) * rstd * gain[j] + shift[j]);
  });
}

template <typename T>
void grad_sums_kernel(Device& device, const NormGradArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const Affine affine(device, args.weight, {}, args.unit_offset);
  const float* const gain = affine.gain;
  const ColumnSums sums(device, rows, 2 * columns);  // of weight, then of bias
  parallel_for(sums.blocks(), rows * columns, [&](int64_t block) {
    const int64_t begin = block * ColumnSums::block_rows,
                  end = std::min(begin + ColumnSums::block_rows, rows);
    float* const dweight = sums.block(block);
    float* const dbias = dweight + columns;
    std::fill_n(dweight, 2 * columns, 0.0f);
    for (int64_t i = begin; i < end; ++i) {
      const T *const x = row<T>(args.x, i), *const dy = row<T>(args.dy, i);
      const float mean = mean_of(args.mean, i), rstd = args.rstd.as<float>()[i];
      float plain = 0.0f, projected = 0.0f;
#pragma omp simd reduction(+ : plain, projected)
      for (int64_t j = 0; j < columns; ++j) {
        const float gradient = load(dy[j]), n = (load(x[j]) - mean) * rstd;
        dweight[j] += gradient * n;
        dbias[j] += gradient;
        plain += gradient * gain[j];
        projected += gradient * gain[j] * n;
      }
      float* const out = row<float>(args.sums, i);
      out[0] = plain;
      out[1] = projected;
    }
  });
  if (args.dweight.defined()) sums.add_to(args.dweight);
  if (args.dbias.defined()) sums.add_to(args.dbias, columns);
}

template <typename T, bool accumulate>
void grad_apply_kernel(Device& device, const NormGradArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const Affine affine(device, args.weight, {}, args.unit_offset);
  const float* const gain = affine.gain;
  parallel_for(rows, rows * columns, [&](int64_t i) {
    const T *const x = row<T>(args.x, i), *const dy = row<T>(args.dy, i);
    T* const dx = row<T>(args.dx, i);
    const float mean = mean_of(args.mean, i), rstd = args.rstd.as<float>()[i];
    const float* const sums = row<float>(args.sums, i);
    const float plain = args.mean.defined() ? sums[0] / float(args.all_columns) : 0.0f;
    const float projected = sums[1] / float(args.all_columns);
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) {
      const float value = rstd * (load(dy[j]) * gain[j] - plain - (load(x[j]) - mean) * rstd * projected);
      store(dx + j, accumulate ? load(dx[j]) + value : value);
    }
  });
}

}  // namespace

void norm_stats(Device& device, const NormStatsArgs& args) {
  with_type(args.x.dtype, [&](auto x) { stats_kernel<decltype(x)>(device, args); });
}

void norm_combine(const NormCombineArgs& args) {
  const int64_t rows = args.parts.dim(1);
  parallel_for(rows, rows * args.parts.dim(0) * 4, [&](int64_t i) {
    double columns = 0, mean = 0, squares = 0;
    for (int64_t p = 0; p < args.parts.dim(0); ++p) {
      const float* const part = args.parts.as<float>() + p * args.parts.stride(0) + i * args.parts.stride(1);
      const double n = double(args.columns[size_t(p)]), delta = double(part[0]) - mean;
      squares += double(part[1]) + delta * delta * columns * n / (columns + n);
      mean += delta * n / (columns + n);
      columns += n;
    }
    if (args.mean.defined()) args.mean.as<float>()[i] = float(mean);
    args.rstd.as<float>()[i] = float(1.0 / std::sqrt(squares / columns + double(args.eps)));
  });
}

void norm_apply(Device& device, const NormArgs& args) {
  with_type(args.x.dtype, [&](auto x) { apply_kernel<decltype(x)>(device, args); });
}

void norm_grad_sums(Device& device, const NormGradArgs& args) {
  with_type(args.x.dtype, [&](auto x) { grad_sums_kernel<decltype(x)>(device, args); });
}

void norm_grad_apply(Device& device, const NormGradArgs& args) {
  with_type(args.x.dtype, [&](auto x) {
    using T = decltype(x);
    args.accumulate_dx ? grad_apply_kernel<T, true>(device, args) : grad_apply_kernel<T, false>(device, args);
  });
}

}  // namespace shoal::cpu
