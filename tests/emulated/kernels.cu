#include "emulated/kernels.h"

namespace shoal::testing {
namespace {

constexpr int block_threads = 128;

__device__ float warp_sum(float x) {
  for (int mask = gpu::warp_size / 2; mask > 0; mask /= 2) x += gpu::shuffle_xor(x, mask);
  return x;
}

__global__ void block_sums_kernel(const float* in, float* out, int n) {
  SHOAL_SHARED(float, partial, block_threads / gpu::warp_size);
  const int t = int(threadIdx.x);
  float sum = 0;
  for (int i = t; i < n; i += block_threads) sum += in[int(blockIdx.x) * n + i];
  sum = warp_sum(sum);
  if (t % gpu::warp_size == 0) partial[t / gpu::warp_size] = sum;
  __syncthreads();
  if (t != 0) return;
  float total = 0;
  for (int w = 0; w < block_threads / gpu::warp_size; ++w) total += partial[w];
  out[blockIdx.x] = total;
}

__global__ void transpose_kernel(const float* in, float* out, int m, int n) {
  SHOAL_DYNAMIC_SHARED(float, tile);
  const int x = int(threadIdx.x), y = int(threadIdx.y), x0 = int(blockIdx.x) * 16, y0 = int(blockIdx.y) * 16;
  if (y0 + y < m && x0 + x < n) tile[y * 17 + x] = in[(y0 + y) * n + x0 + x];
  __syncthreads();
  if (x0 + y < n && y0 + x < m) out[(x0 + y) * m + y0 + x] = tile[x * 17 + y];
}

__global__ void histogram_kernel(const int* values, int* counts, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) atomicAdd(&counts[values[i]], 1);
}

__global__ void vote_kernel(const float* values, int* votes) {
  const bool positive = values[threadIdx.x] > 0;
  const bool all = gpu::all(positive), any = gpu::any(positive);
  if (threadIdx.x != 0) return;
  votes[0] = all ? 1 : 0;
  votes[1] = any ? 1 : 0;
}

__global__ void neighbour_kernel(float* out, bool race) {
  SHOAL_SHARED(float, value, block_threads);
  const int t = int(threadIdx.x);
  value[t] = float(t);
  if (!race) __syncthreads();
  out[t] = t == 0 ? 0 : value[t - 1];
}

__global__ void neighbour_of_warp_kernel(float* out, bool race) {
  SHOAL_SHARED(float, value, gpu::warp_size);
  const int t = int(threadIdx.x);
  value[t] = float(t);
  if (!race) gpu::warp_sync();
  out[t] = t == 0 ? 0 : value[t - 1];
}

__global__ void across_blocks_kernel(float* out, bool race) {
  if (threadIdx.x == 0) out[race ? 0 : blockIdx.x] = 1;
}

__global__ void overwritten_kernel(float* out, bool race) {
  SHOAL_SHARED(float, value, block_threads);
  const int t = int(threadIdx.x);
  value[t] = float(t);
  __syncthreads();
  const float seen = value[(t + 1) % block_threads];
  if (!race) __syncthreads();
  value[t] = seen;
  out[t] = value[t];
}

__global__ void write_behind_kernel(float* out, int n, bool outside) {
  const int i = int(threadIdx.x);
  if (i < n || (outside && i == n)) out[i] = 1;
}

__global__ void shared_behind_kernel(float* out, bool outside) {
  SHOAL_SHARED(float, value, 32);
  const int t = int(threadIdx.x);
  value[t] = float(t);
  __syncthreads();
  out[t] = value[outside ? t + 1 : t];
}

__global__ void unwritten_kernel(const float* in, float* out, bool read) {
  if (read || threadIdx.x != 0) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void divergent_kernel(float* out, bool diverges) {
  const int t = int(threadIdx.x);
  if (diverges && t >= block_threads / 2) return;
  __syncthreads();
  out[t] = float(t);
}

__global__ void two_barriers_kernel(float* out, bool diverges) {
  const int t = int(threadIdx.x);
  if (diverges && t >= block_threads / 2) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[t] = float(t);
}

}  // namespace

void block_sums(const float* in, float* out, int n, int blocks) {
  gpu::launch(block_sums_kernel, dim3(unsigned(blocks)), dim3(block_threads), 0, {}, in, out, n);
}
void transpose(const float* in, float* out, int m, int n) {
  const dim3 grid(unsigned(n + 15) / 16, unsigned(m + 15) / 16);
  gpu::launch(transpose_kernel, grid, dim3(16, 16), 16 * 17 * sizeof(float), {}, in, out, m, n);
}
void histogram(const int* values, int* counts, int n) {
  gpu::launch(histogram_kernel, dim3(unsigned(n + 127) / 128), dim3(128), 0, {}, values, counts, n);
}
void vote(const float* values, int* votes) {
  gpu::launch(vote_kernel, dim3(1), dim3(unsigned(gpu::warp_size)), 0, {}, values, votes);
}
void neighbour(float* out, bool race) {
  gpu::launch(neighbour_kernel, dim3(1), dim3(block_threads), 0, {}, out, race);
}
void neighbour_of_warp(float* out, bool race) {
  gpu::launch(neighbour_of_warp_kernel, dim3(1), dim3(unsigned(gpu::warp_size)), 0, {}, out, race);
}
void across_blocks(float* out, bool race) {
  gpu::launch(across_blocks_kernel, dim3(2), dim3(64), 0, {}, out, race);
}
void overwritten(float* out, bool race) {
  gpu::launch(overwritten_kernel, dim3(1), dim3(block_threads), 0, {}, out, race);
}
void write_behind(float* out, int n, bool outside) {
  gpu::launch(write_behind_kernel, dim3(1), dim3(64), 0, {}, out, n, outside);
}
void shared_behind(float* out, bool outside) {
  gpu::launch(shared_behind_kernel, dim3(1), dim3(32), 0, {}, out, outside);
}
void unwritten(const float* in, float* out, bool read) {
  gpu::launch(unwritten_kernel, dim3(1), dim3(32), 0, {}, in, out, read);
}
void divergent(float* out, bool diverges) {
  gpu::launch(divergent_kernel, dim3(1), dim3(block_threads), 0, {}, out, diverges);
}
void two_barriers(float* out, bool diverges) {
  gpu::launch(two_barriers_kernel, dim3(1), dim3(block_threads), 0, {}, out, diverges);
}

}  // namespace shoal::testing
