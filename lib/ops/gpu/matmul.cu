// The project's own product of matrices, for where no library is: tiles in shared memory, sums in f32.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

constexpr int tile = 16;

// A matrix or its transpose, as an element of (row, column).
template <typename T>
struct Operand {
  const T* data;
  int64_t row, column;
  Operand(const View& view, bool transposed)
      : data(view.as<T>()), row(transposed ? 1 : view.stride(0)), column(transposed ? view.stride(0) : 1) {}
  __device__ float operator()(int64_t i, int64_t j) const { return load(data[i * row + j * column]); }
};

template <typename In, typename Out>
__global__ void matmul_kernel(Operand<In> a, Operand<In> b, Rows<Out> c, const float* bias, int64_t m,
                              int64_t n, int64_t k, bool accumulate) {
  SHOAL_SHARED(float, left, tile*(tile + 1));
  SHOAL_SHARED(float, right, tile*(tile + 1));
  const int x = int(threadIdx.x), y = int(threadIdx.y);
  const int64_t i = int64_t(blockIdx.x) * tile + y, j = int64_t(blockIdx.y) * tile + x;
  float sum = 0;
  for (int64_t first = 0; first < k; first += tile) {
    left[y * (tile + 1) + x] = i < m && first + x < k ? a(i, first + x) : 0.0f;
    right[y * (tile + 1) + x] = first + y < k && j < n ? b(first + y, j) : 0.0f;
    __syncthreads();
    for (int t = 0; t < tile; ++t) sum += left[y * (tile + 1) + t] * right[t * (tile + 1) + x];
    __syncthreads();
  }
  if (i >= m || j >= n) return;
  if (bias != nullptr) sum += bias[j];
  if (accumulate) sum += load(c[i][j]);
  store(&c[i][j], sum);
}

}  // namespace

void matmul(Stream stream, const MatmulArgs& args) {
  if (args.c.numel() == 0) return;
  const int64_t m = args.c.dim(0), n = args.c.dim(1), k = args.a.dim(args.transpose_a ? 0 : 1);
  const dim3 grid(static_cast<unsigned>((m + tile - 1) / tile), static_cast<unsigned>((n + tile - 1) / tile));
  with_type(args.a.dtype, [&](auto in) {
    with_type(args.c.dtype, [&](auto out) {
      using In = decltype(in);
      using Out = decltype(out);
      launch(matmul_kernel<In, Out>, grid, dim3(tile, tile), 0, stream, Operand<In>(args.a, args.transpose_a),
             Operand<In>(args.b, args.transpose_b), Rows<Out>(args.c),
             static_cast<const float*>(args.bias.defined() ? args.bias.as<float>() : nullptr), m, n, k,
             args.accumulate);
    });
  });
}

}  // namespace shoal::gpu
