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
  const Affine affine(device, args.weight, {}, args.unit_offset);
  with_column_sums(device, args, [&](int64_t i, float* dweight, float* dbias) {
    const auto sums = norm_grad_row<T>(args, i, affine.gain).sums(dweight, dbias);
    float* const out = row<float>(args.sums, i);
    out[0] = sums.plain;
    out[1] = sums.projected;
  });
}

template <typename T, bool accumulate>
void grad_apply_kernel(Device& device, const NormGradArgs& args) {
  const int64_t rows = args.x.dim(0), columns = args.x.dim(1);
  const Affine affine(device, args.weight, {}, args.unit_offset);
  parallel_for(rows, rows * columns, [&](int64_t i) {
    const float* const sums = row<float>(args.sums, i);
    const float plain = args.mean.defined() ? sums[0] / float(args.all_columns) : 0.0f;
    norm_grad_row<T>(args, i, affine.gain)
        .template apply<accumulate>({plain, sums[1] / float(args.all_columns)});
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
