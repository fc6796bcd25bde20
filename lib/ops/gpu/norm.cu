// LayerNorm and RMSNorm, whole rows by one block each, and the steps of a norm whose features are split.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

// The pointer of an optional f32 vector.
float* vector_of(const View& view) {
  return view.defined() ? view.as<float>() : nullptr;
}

// What is normalised: x, or x + residual as it was stored, because that is what the backward will see.
template <typename T>
struct Source {
  Rows<T> x, residual, sum;
  __device__ void add(int64_t i, int64_t j) const {
    if (residual.data != nullptr) store(&sum[i][j], load(x[i][j]) + load(residual[i][j]));
  }
  __device__ float operator()(int64_t i, int64_t j) const {
    return load(residual.data != nullptr ? sum[i][j] : x[i][j]);
  }
};

// The mean of a row (0 if not centred) and its sum of squares around it, in two passes over the row.
template <typename T>
__device__ void row_stats(const Source<T>& x, int64_t i, int64_t columns, bool centred, float* mean,
                          float* squares) {
  float total = 0;
  for (int64_t j = int64_t(threadIdx.x); j < columns; j += block_threads) {
    x.add(i, j);
    total += x(i, j);
  }
  *mean = centred ? block_sum(total) / float(columns) : 0.0f;
  float sum = 0;
  for (int64_t j = int64_t(threadIdx.x); j < columns; j += block_threads) {
    const float d = x(i, j) - *mean;
    sum += d * d;
  }
  *squares = block_sum(sum);
}

template <typename T>
__global__ void norm_kernel(Source<T> x, Rows<T> y, const float* weight, const float* bias, float* mean_out,
                            float* rstd_out, int64_t columns, float eps, float offset, bool centred) {
  const int64_t i = int64_t(blockIdx.x);
  float mean = 0, squares = 0;
  row_stats(x, i, columns, centred, &mean, &squares);
  const float rstd = 1.0f / sqrtf(squares / float(columns) + eps);
  for (int64_t j = int64_t(threadIdx.x); j < columns; j += block_threads) {
    const float n = (x(i, j) - mean) * rstd;
    store(&y[i][j], n * (weight[j] + offset) + (bias != nullptr ? bias[j] : 0.0f));
  }
  if (threadIdx.x != 0) return;
  if (mean_out != nullptr) mean_out[i] = mean;
  if (rstd_out != nullptr) rstd_out[i] = rstd;
}

template <typename T>
__global__ void stats_kernel(Source<T> x, Rows<float> stats, int64_t columns, bool centred) {
  const int64_t i = int64_t(blockIdx.x);
  float mean = 0, squares = 0;
  row_stats(x, i, columns, centred, &mean, &squares);
  if (threadIdx.x != 0) return;
  stats[i][0] = mean;
  stats[i][1] = squares;
}

struct Combine {
  const float *parts, *columns;
  int64_t ranks, part_stride, row_stride;
  float eps;
  float *mean_out, *rstd_out;
  __device__ void operator()(int64_t i) const {
    double all = 0, total = 0, squares = 0;
    for (int64_t p = 0; p < ranks; ++p) {
      all += double(columns[p]);
      total += double(columns[p]) * double(parts[p * part_stride + i * row_stride]);
    }
    const double mean = total / all;
    for (int64_t p = 0; p < ranks; ++p) {
      const float* const part = parts + p * part_stride + i * row_stride;
      const double delta = double(part[0]) - mean;
      squares += double(part[1]) + double(columns[p]) * delta * delta;
    }
    if (mean_out != nullptr) mean_out[i] = float(mean);
    rstd_out[i] = float(1.0 / sqrt(squares / all + double(eps)));
  }
};

template <typename T>
struct Apply {
  Rows<T> x, y;
  const float *weight, *bias, *mean, *rstd;
  float offset;
  int64_t columns;
  __device__ void operator()(int64_t at) const {
    const int64_t i = at / columns, j = at % columns;
    const float n = (load(x[i][j]) - (mean != nullptr ? mean[i] : 0.0f)) * rstd[i];
    store(&y[i][j], n * (weight[j] + offset) + (bias != nullptr ? bias[j] : 0.0f));
  }
};

// Rows as the gradient sees them: n is the normalised x, g = dy * weight.
template <typename T>
struct Grad {
  Rows<T> x, dy, dx;
  const float *weight, *mean, *rstd;
  float offset;
  bool accumulate;
  explicit Grad(const NormGradArgs& args, bool centred)
      : x(args.x),
        dy(args.dy),
        dx(args.dx),
        weight(args.weight.as<float>()),
        mean(centred ? args.mean.as<float>() : nullptr),
        rstd(args.rstd.as<float>()),
        offset(args.unit_offset ? 1.0f : 0.0f),
        accumulate(args.accumulate_dx) {}
  __device__ float n(int64_t i, int64_t j) const {
    return (load(x[i][j]) - (mean != nullptr ? mean[i] : 0.0f)) * rstd[i];
  }
  __device__ float g(int64_t i, int64_t j) const { return load(dy[i][j]) * (weight[j] + offset); }
  __device__ void set(int64_t i, int64_t j, float plain, float projected) const {
    const float gradient = rstd[i] * (g(i, j) - plain - n(i, j) * projected);
    store(&dx[i][j], gradient + (accumulate ? load(dx[i][j]) : 0.0f));
  }
};

template <typename T>
__device__ void grad_sums(const Grad<T>& rows, int64_t i, int64_t columns, float* plain, float* projected) {
  float a = 0, b = 0;
  for (int64_t j = int64_t(threadIdx.x); j < columns; j += block_threads) {
    a += rows.g(i, j);
    b += rows.g(i, j) * rows.n(i, j);
  }
  *plain = block_sum(a);
  *projected = block_sum(b);
}

template <typename T>
__global__ void grad_kernel(Grad<T> rows, int64_t columns) {
  const int64_t i = int64_t(blockIdx.x);
  float plain = 0, projected = 0;
  grad_sums(rows, i, columns, &plain, &projected);
  plain = rows.mean != nullptr ? plain / float(columns) : 0.0f;
  projected /= float(columns);
  for (int64_t j = int64_t(threadIdx.x); j < columns; j += block_threads) rows.set(i, j, plain, projected);
}

template <typename T>
__global__ void grad_sums_kernel(Grad<T> rows, Rows<float> sums, int64_t columns) {
  const int64_t i = int64_t(blockIdx.x);
  float plain = 0, projected = 0;
  grad_sums(rows, i, columns, &plain, &projected);
  if (threadIdx.x != 0) return;
  sums[i][0] = plain;
  sums[i][1] = projected;
}

template <typename T>
struct GradApply {
  Grad<T> rows;
  Rows<float> sums;
  float all_columns;
  int64_t columns;
  __device__ void operator()(int64_t at) const {
    const int64_t i = at / columns, j = at % columns;
    const float plain = rows.mean != nullptr ? sums[i][0] / all_columns : 0.0f;
    rows.set(i, j, plain, sums[i][1] / all_columns);
  }
};

template <typename T>
__global__ void weight_grad_kernel(Grad<T> rows, float* dweight, float* dbias, int64_t m, int64_t columns) {
  const int64_t j = int64_t(blockIdx.x) * columns_of_block + int64_t(threadIdx.x);
  float weight = 0, bias = 0;
  if (j < columns) {
    for (int64_t i = int64_t(threadIdx.y); i < m; i += rows_of_block) {
      const float dy = load(rows.dy[i][j]);
      weight += dy * rows.n(i, j);
      bias += dy;
    }
  }
  weight = column_sum(weight);
  bias = column_sum(bias);
  if (threadIdx.y != 0 || j >= columns) return;
  if (dweight != nullptr) dweight[j] += weight;
  if (dbias != nullptr) dbias[j] += bias;
}

template <typename T>
void weight_grad(Stream stream, const NormGradArgs& args, const Grad<T>& rows) {
  launch_columns(stream, args.x.dim(1), weight_grad_kernel<T>, rows, vector_of(args.dweight),
                 vector_of(args.dbias), args.x.dim(0), args.x.dim(1));
}

template <typename T>
Source<T> source_of(const View& x, const View& residual, const View& sum) {
  return {Rows<T>(x), Rows<T>(residual), Rows<T>(sum)};
}

}  // namespace

void norm(Stream stream, const NormArgs& args, bool centred) {
  if (args.x.numel() == 0) return;
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    launch(norm_kernel<T>, dim3(static_cast<unsigned>(args.x.dim(0))), dim3(block_threads), 0, stream,
           source_of<T>(args.x, args.residual, args.sum), Rows<T>(args.y),
           static_cast<const float*>(args.weight.as<float>()),
           static_cast<const float*>(vector_of(args.bias)), vector_of(args.mean), vector_of(args.rstd),
           args.x.dim(1), args.eps, args.unit_offset ? 1.0f : 0.0f, centred);
  });
}

void norm_grad(Stream stream, const NormGradArgs& args, bool centred) {
  if (args.x.numel() == 0) return;
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    const Grad<T> rows(args, centred);
    weight_grad(stream, args, rows);
    launch(grad_kernel<T>, dim3(static_cast<unsigned>(args.x.dim(0))), dim3(block_threads), 0, stream, rows,
           args.x.dim(1));
  });
}

void norm_stats(Stream stream, const NormStatsArgs& args) {
  if (args.x.dim(0) == 0) return;
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    launch(stats_kernel<T>, dim3(static_cast<unsigned>(args.x.dim(0))), dim3(block_threads), 0, stream,
           source_of<T>(args.x, args.residual, args.sum), Rows<float>(args.stats), args.x.dim(1),
           args.centred);
  });
}

void norm_combine(Stream stream, const NormCombineArgs& args, const View& columns) {
  for_each(stream, args.parts.dim(1),
           Combine{args.parts.as<float>(), columns.as<float>(), args.parts.dim(0), args.parts.stride(0),
                   args.parts.stride(1), args.eps, vector_of(args.mean), args.rstd.as<float>()});
}

void norm_apply(Stream stream, const NormArgs& args) {
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(
        stream, args.x.numel(),
        Apply<T>{Rows<T>(args.x), Rows<T>(args.y), args.weight.as<float>(), vector_of(args.bias),
                 vector_of(args.mean), args.rstd.as<float>(), args.unit_offset ? 1.0f : 0.0f, args.x.dim(1)});
  });
}

void norm_grad_sums(Stream stream, const NormGradArgs& args) {
  if (args.x.dim(0) == 0) return;
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    const Grad<T> rows(args, args.mean.defined());
    weight_grad(stream, args, rows);
    launch(grad_sums_kernel<T>, dim3(static_cast<unsigned>(args.x.dim(0))), dim3(block_threads), 0, stream,
           rows, Rows<float>(args.sums), args.x.dim(1));
  });
}

void norm_grad_apply(Stream stream, const NormGradArgs& args) {
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(stream, args.x.numel(),
             GradApply<T>{Grad<T>(args, args.mean.defined()), Rows<float>(args.sums), float(args.all_columns),
                          args.x.dim(1)});
  });
}

}  // namespace shoal::gpu
