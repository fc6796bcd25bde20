// Causal attention without its matrix in memory (Dao et al. 2022), with a running softmax. A block takes one
// query, or in the gradient of keys and values one key; plain arithmetic in f32, no tensor cores.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

constexpr int max_head_size = 256;
constexpr int dims_of_thread = max_head_size / block_threads;

// The vectors of a view [B, T, G, R, D] or [B, T, G, D].
template <typename T>
struct Heads {
  T* data = nullptr;
  int64_t batch = 0, time = 0, group = 0, head = 0;
  Heads() = default;
  explicit Heads(const View& view)
      : data(view.as<T>()),
        batch(view.stride(0)),
        time(view.stride(1)),
        group(view.stride(2)),
        head(view.rank() == 5 ? view.stride(3) : 0) {}
  __device__ T* operator()(int64_t b, int64_t t, int64_t g, int64_t r) const {
    return data + b * batch + t * time + g * group + r * head;
  }
};

struct Sizes {
  int64_t groups, heads, queries, keys, dims;  // G, R, T, S, D
  float scale;
};

// A number of each query, [B, G, R, T] f32.
struct Statistic {
  float* data = nullptr;
  int64_t batch = 0, group = 0, head = 0;
  Statistic() = default;
  explicit Statistic(const View& view) {
    if (!view.defined()) return;
    data = view.as<float>();
    batch = view.stride(0);
    group = view.stride(1);
    head = view.stride(2);
  }
  __device__ float& operator()(int64_t b, int64_t g, int64_t r, int64_t t) const {
    return data[b * batch + g * group + r * head + t];
  }
};

template <typename T>
__device__ float dot(const T* a, const T* b, int64_t n) {
  float sum = 0;
  for (int64_t d = 0; d < n; ++d) sum += load(a[d]) * load(b[d]);
  return sum;
}

template <typename T>
__global__ void forward_kernel(Heads<T> q, Heads<T> k, Heads<T> v, Heads<T> out, Statistic lse, Sizes n) {
  SHOAL_SHARED(float, weight, block_threads);
  const int64_t t = int64_t(blockIdx.x), b = int64_t(blockIdx.z);
  const int64_t g = int64_t(blockIdx.y) / n.heads, r = int64_t(blockIdx.y) % n.heads;
  const int thread = int(threadIdx.x);
  const int64_t seen = n.keys - n.queries + t + 1;
  float maximum = -INFINITY, total = 0, sum[dims_of_thread] = {};
  for (int64_t first = 0; first < seen; first += block_threads) {
    const int64_t s = first + thread;
    const float score = s < seen ? n.scale * dot(q(b, t, g, r), k(b, s, g, 0), n.dims) : -INFINITY;
    const float highest = fmaxf(maximum, block_max(score));
    const float correction = expf(maximum - highest);
    weight[thread] = expf(score - highest);
    total = total * correction + block_sum(weight[thread]);
    maximum = highest;
    const int count = int(seen - first < block_threads ? seen - first : block_threads);
    for (int i = 0; i < dims_of_thread; ++i) {
      const int d = thread + i * block_threads;
      if (d >= n.dims) break;
      sum[i] *= correction;
      for (int j = 0; j < count; ++j) sum[i] += weight[j] * load(v(b, first + j, g, 0)[d]);
    }
    __syncthreads();
  }
  for (int i = 0; i < dims_of_thread; ++i) {
    const int d = thread + i * block_threads;
    if (d < n.dims) store(&out(b, t, g, r)[d], sum[i] / total);
  }
  if (lse.data != nullptr && thread == 0) lse(b, g, r, t) = maximum + logf(total);
}

// delta [B, G, R, T] = dout . out: what the softmax's gradient takes from each score.
template <typename T>
struct Delta {
  Heads<T> out, dout;
  Statistic delta;
  Sizes n;
  __device__ void operator()(int64_t at) const {
    const int64_t t = at % n.queries, r = at / n.queries % n.heads;
    const int64_t g = at / (n.queries * n.heads) % n.groups, b = at / (n.queries * n.heads * n.groups);
    delta(b, g, r, t) = dot(out(b, t, g, r), dout(b, t, g, r), n.dims);
  }
};

template <typename T>
__global__ void query_grad_kernel(Heads<T> q, Heads<T> k, Heads<T> v, Heads<T> dout, Statistic lse,
                                  Statistic delta, Heads<T> dq, Sizes n) {
  SHOAL_SHARED(float, dscore, block_threads);
  const int64_t t = int64_t(blockIdx.x), b = int64_t(blockIdx.z);
  const int64_t g = int64_t(blockIdx.y) / n.heads, r = int64_t(blockIdx.y) % n.heads;
  const int thread = int(threadIdx.x);
  float sum[dims_of_thread] = {};
  for (int64_t first = 0; first <= t; first += block_threads) {
    const int64_t s = first + thread;
    float ds = 0;
    if (s <= t) {
      const float p = expf(n.scale * dot(q(b, t, g, r), k(b, s, g, 0), n.dims) - lse(b, g, r, t));
      ds = n.scale * p * (dot(dout(b, t, g, r), v(b, s, g, 0), n.dims) - delta(b, g, r, t));
    }
    dscore[thread] = ds;
    __syncthreads();
    const int count = int(t + 1 - first < block_threads ? t + 1 - first : block_threads);
    for (int i = 0; i < dims_of_thread; ++i) {
      const int d = thread + i * block_threads;
      if (d >= n.dims) break;
      for (int j = 0; j < count; ++j) sum[i] += dscore[j] * load(k(b, first + j, g, 0)[d]);
    }
    __syncthreads();
  }
  for (int i = 0; i < dims_of_thread; ++i) {
    const int d = thread + i * block_threads;
    if (d < n.dims) store(&dq(b, t, g, r)[d], sum[i]);
  }
}

template <typename T>
__global__ void key_grad_kernel(Heads<T> q, Heads<T> k, Heads<T> v, Heads<T> dout, Statistic lse,
                                Statistic delta, Heads<T> dk, Heads<T> dv, Sizes n) {
  SHOAL_SHARED(float, probability, block_threads);
  SHOAL_SHARED(float, dscore, block_threads);
  const int64_t s = int64_t(blockIdx.x), g = int64_t(blockIdx.y), b = int64_t(blockIdx.z);
  const int thread = int(threadIdx.x);
  float key[dims_of_thread] = {}, value[dims_of_thread] = {};
  for (int64_t r = 0; r < n.heads; ++r) {
    for (int64_t first = s; first < n.queries; first += block_threads) {
      const int64_t t = first + thread;
      float p = 0, ds = 0;
      if (t < n.queries) {
        p = expf(n.scale * dot(q(b, t, g, r), k(b, s, g, 0), n.dims) - lse(b, g, r, t));
        ds = n.scale * p * (dot(dout(b, t, g, r), v(b, s, g, 0), n.dims) - delta(b, g, r, t));
      }
      probability[thread] = p;
      dscore[thread] = ds;
      __syncthreads();
      const int count = int(n.queries - first < block_threads ? n.queries - first : block_threads);
      for (int i = 0; i < dims_of_thread; ++i) {
        const int d = thread + i * block_threads;
        if (d >= n.dims) break;
        for (int j = 0; j < count; ++j) {
          value[i] += probability[j] * load(dout(b, first + j, g, r)[d]);
          key[i] += dscore[j] * load(q(b, first + j, g, r)[d]);
        }
      }
      __syncthreads();
    }
  }
  for (int i = 0; i < dims_of_thread; ++i) {
    const int d = thread + i * block_threads;
    if (d >= n.dims) break;
    store(&dk(b, s, g, 0)[d], key[i]);
    store(&dv(b, s, g, 0)[d], value[i]);
  }
}

Sizes sizes_of(const View& q, const View& k, float scale) {
  SHOAL_CHECK(q.dim(4) <= max_head_size);
  return {q.dim(2), q.dim(3), q.dim(1), k.dim(1), q.dim(4), scale};
}

dim3 grid_of(int64_t x, int64_t y, int64_t z) {
  return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));
}

}  // namespace

void attention(Stream stream, const AttentionArgs& args) {
  if (args.q.numel() == 0) return;
  const Sizes n = sizes_of(args.q, args.k, args.scale);
  with_type(args.q.dtype, [&](auto type) {
    using T = decltype(type);
    launch(forward_kernel<T>, grid_of(n.queries, n.groups * n.heads, args.q.dim(0)), dim3(block_threads), 0,
           stream, Heads<T>(args.q), Heads<T>(args.k), Heads<T>(args.v), Heads<T>(args.out),
           Statistic(args.lse), n);
  });
}

void attention_grad(Stream stream, const AttentionGradArgs& args, const View& delta) {
  if (args.q.numel() == 0) return;
  const Sizes n = sizes_of(args.q, args.k, args.scale);
  const int64_t batch = args.q.dim(0);
  const Statistic lse(args.lse), difference(delta);
  with_type(args.q.dtype, [&](auto type) {
    using T = decltype(type);
    const Heads<T> q(args.q), k(args.k), v(args.v), dout(args.dout);
    for_each(stream, delta.numel(), Delta<T>{Heads<T>(args.out), dout, difference, n});
    launch(query_grad_kernel<T>, grid_of(n.queries, n.groups * n.heads, batch), dim3(block_threads), 0,
           stream, q, k, v, dout, lse, difference, Heads<T>(args.dq), n);
    launch(key_grad_kernel<T>, grid_of(n.keys, n.groups, batch), dim3(block_threads), 0, stream, q, k, v,
           dout, lse, difference, Heads<T>(args.dk), Heads<T>(args.dv), n);
  });
}

}  // namespace shoal::gpu
