// What the kernels share: elements of any type as f32, views as plain structs, reductions over a block.
#pragma once

#include <math.h>

#include "device/gpu/kernel.h"
#include "ops/ops.h"

namespace shoal::gpu {

inline constexpr int block_threads = 128;

__device__ inline float load(float x) {
  return x;
}
__device__ inline float load(bf16 x) {
  return __uint_as_float(uint32_t(x.bits) << 16);
}
__device__ inline void store(float* to, float x) {
  *to = x;
}
// Rounds to the nearest, ties to even; NaN stays NaN.
__device__ inline void store(bf16* to, float x) {
  const uint32_t u = __float_as_uint(x);
  const uint32_t rounded = u + 0x7fffu + ((u >> 16) & 1u);
  to->bits = uint16_t((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : rounded >> 16);
}

// The rows of a matrix; an undefined one has no data.
template <typename T>
struct Rows {
  T* data = nullptr;
  int64_t stride = 0;
  Rows() = default;
  explicit Rows(const View& view) {
    if (!view.defined()) return;
    data = view.as<T>();
    stride = view.rank() > 1 ? view.stride(0) : 1;
  }
  __device__ T* operator[](int64_t i) const { return data + i * stride; }
};

// A view of any rank, its elements by their number in row-major order.
template <typename T>
struct Elements {
  T* data = nullptr;
  int64_t dims[Shape::max_rank] = {}, strides[Shape::max_rank] = {};
  int rank = 0;
  explicit Elements(const View& view) : data(view.as<T>()), rank(view.rank()) {
    for (int d = 0; d < rank; ++d) dims[d] = view.dim(d), strides[d] = view.stride(d);
  }
  __device__ T& operator[](int64_t i) const {
    int64_t offset = 0;
    for (int d = rank - 1; d >= 0; --d) {
      offset += i % dims[d] * strides[d];
      i /= dims[d];
    }
    return data[offset];
  }
};

__device__ inline int64_t global_thread() {
  return int64_t(blockIdx.x) * int64_t(blockDim.x) + int64_t(threadIdx.x);
}

template <typename F>
__global__ void for_each_kernel(int64_t n, F f) {
  const int64_t i = global_thread();
  if (i < n) f(i);
}

// Calls f(i) for i in 0 .. n - 1, each in a thread of its own.
template <typename F>
void for_each(Stream stream, int64_t n, const F& f) {
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>((n + block_threads - 1) / block_threads);
  launch(for_each_kernel<F>, dim3(blocks), dim3(block_threads), 0, stream, n, f);
}

template <typename T>
__device__ T warp_sum(T x) {
  for (int mask = warp_size / 2; mask > 0; mask /= 2) x += shuffle_xor(x, mask);
  return x;
}
__device__ inline float warp_max(float x) {
  for (int mask = warp_size / 2; mask > 0; mask /= 2) x = fmaxf(x, shuffle_xor(x, mask));
  return x;
}

// The sum over a block of block_threads, in every thread; always in the same order.
template <typename T>
__device__ T block_sum(T x) {
  constexpr int warps = block_threads / warp_size;
  SHOAL_SHARED(T, part, warps);
  x = warp_sum(x);
  __syncthreads();  // an earlier call may still be read
  if (int(threadIdx.x) % warp_size == 0) part[int(threadIdx.x) / warp_size] = x;
  __syncthreads();
  T sum = part[0];
  for (int w = 1; w < warps; ++w) sum += part[w];
  return sum;
}
__device__ inline float block_max(float x) {
  constexpr int warps = block_threads / warp_size;
  SHOAL_SHARED(float, part, warps);
  x = warp_max(x);
  __syncthreads();
  if (int(threadIdx.x) % warp_size == 0) part[int(threadIdx.x) / warp_size] = x;
  __syncthreads();
  float result = part[0];
  for (int w = 1; w < warps; ++w) result = fmaxf(result, part[w]);
  return result;
}

// A block of 32 columns by 8 rows: each thread sums every eighth row of its column, then the eight are
// summed.
inline constexpr int columns_of_block = 32, rows_of_block = 8;

// The sum of a column's eight, in the threads of the first row.
__device__ inline float column_sum(float x) {
  SHOAL_SHARED(float, part, columns_of_block* rows_of_block);
  const int c = int(threadIdx.x);
  __syncthreads();  // an earlier call may still be read
  part[int(threadIdx.y) * columns_of_block + c] = x;
  __syncthreads();
  float sum = part[c];
  for (int r = 1; r < rows_of_block; ++r) sum += part[r * columns_of_block + c];
  return sum;
}

// Launches a kernel of such blocks over all columns.
template <typename... Parameters, typename... Args>
void launch_columns(Stream stream, int64_t columns, void (*kernel)(Parameters...), Args... args) {
  const auto blocks = static_cast<unsigned>((columns + columns_of_block - 1) / columns_of_block);
  launch(kernel, dim3(blocks), dim3(columns_of_block, rows_of_block), 0, stream, args...);
}

// Calls f with a value of the element type.
template <typename F>
void with_type(DType dtype, F&& f) {
  SHOAL_CHECK(dtype == DType::f32 || dtype == DType::bf16);
  if (dtype == DType::f32) {
    f(float{});
  } else {
    f(bf16{});
  }
}

}  // namespace shoal::gpu
