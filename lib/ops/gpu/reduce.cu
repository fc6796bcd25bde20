// Sums over columns and over everything, in an order that depends on the shape alone.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

template <typename T>
__global__ void column_sums_kernel(Rows<T> x, float* out, int64_t rows, int64_t columns) {
  const int64_t j = int64_t(blockIdx.x) * columns_of_block + int64_t(threadIdx.x);
  float sum = 0;
  if (j < columns) {
    for (int64_t i = int64_t(threadIdx.y); i < rows; i += rows_of_block) sum += load(x[i][j]);
  }
  sum = column_sum(sum);
  if (threadIdx.y == 0 && j < columns) out[j] += sum;
}

template <typename T>
struct Square {
  Elements<T> x;
  __device__ double operator()(int64_t i) const {
    const double value = double(load(x[i]));
    return value * value;
  }
};

struct RelativeSquare {
  const float *grad, *v;
  double gradient_scale, beta2, least;
  __device__ double operator()(int64_t i) const {
    const double g = double(grad[i]) * gradient_scale;
    const double second = beta2 * double(v[i]) + (1.0 - beta2) * g * g;
    return g * g / (second > least ? second : least);
  }
};

template <typename F>
__global__ void sum_kernel(int64_t n, F f, double* partial) {
  double sum = 0;
  for (int64_t i = global_thread(); i < n; i += int64_t(gridDim.x) * block_threads) sum += f(i);
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <typename F>
void sum(Stream stream, int64_t n, const F& f, const View& partial) {
  const auto blocks = static_cast<unsigned>(partial.numel());
  launch(sum_kernel<F>, dim3(blocks), dim3(block_threads), 0, stream, n, f, partial.as<double>());
}

}  // namespace

void column_sums(Stream stream, const View& dy, const View& out) {
  if (dy.numel() == 0) return;
  with_type(dy.dtype, [&](auto type) {
    using T = decltype(type);
    launch_columns(stream, dy.dim(1), column_sums_kernel<T>, Rows<T>(dy), out.as<float>(), dy.dim(0),
                   dy.dim(1));
  });
}

void sum_squares(Stream stream, const View& x, const View& partial) {
  with_type(x.dtype, [&](auto type) {
    using T = decltype(type);
    sum(stream, x.numel(), Square<T>{Elements<T>(x)}, partial);
  });
}

void adam_relative_squares(Stream stream, const AdamwArgs& args, const View& partial) {
  const RelativeSquare square{args.grad.as<float>(), args.v.as<float>(), args.gradient_scale, args.beta2,
                              args.eps * args.eps};
  sum(stream, args.grad.numel(), square, partial);
}

}  // namespace shoal::gpu
