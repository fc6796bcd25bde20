// Activations with their bias, and gated activations.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

__device__ float sigmoid(float x) {
  return 1.0f / (1.0f + expf(-x));
}

constexpr float root_half = 0.70710678f;       // sqrt(1 / 2)
constexpr float root_2_over_pi = 0.79788456f;  // sqrt(2 / pi)
constexpr float normal_density = 0.39894228f;  // 1 / sqrt(2 pi)
constexpr float cubic = 0.044715f;
constexpr float saturated = 30.0f;  // beyond it the tanh form is x or 0 exactly, and its terms would overflow

// (1 + tanh(u)) / 2 of the tanh form, which is sigmoid(2 u).
__device__ float tanh_gate(float x) {
  return sigmoid(2 * root_2_over_pi * (x + cubic * x * x * x));
}

__device__ float value(Activation kind, float x) {
  switch (kind) {
    case Activation::gelu:
      return 0.5f * x * erfcf(-x * root_half);
    case Activation::gelu_tanh:
      if (x > saturated) return x;
      return x < -saturated ? 0.0f : x * tanh_gate(x);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::relu:
      return x > 0 ? x : 0;
  }
  return 0;
}

__device__ float derivative(Activation kind, float x) {
  switch (kind) {
    case Activation::gelu:
      return 0.5f * erfcf(-x * root_half) + x * normal_density * expf(-0.5f * x * x);
    case Activation::gelu_tanh: {
      if (fabsf(x) > saturated) return x > 0 ? 1 : 0;
      const float s = tanh_gate(x);
      return s + 2 * x * s * (1 - s) * root_2_over_pi * (1 + 3 * cubic * x * x);
    }
    case Activation::silu: {
      const float s = sigmoid(x);
      return s + x * s * (1 - s);
    }
    case Activation::relu:
      return x > 0 ? 1 : 0;
  }
  return 0;
}

template <typename T>
struct Forward {
  Activation kind;
  int64_t columns;
  Rows<T> x, y;
  const float* bias;
  __device__ void operator()(int64_t at) const {
    const int64_t i = at / columns, j = at % columns;
    store(&y[i][j], value(kind, load(x[i][j]) + (bias != nullptr ? bias[j] : 0.0f)));
  }
};

// dx, and the sums of its columns before it is rounded.
template <typename T>
__global__ void backward_kernel(Activation kind, Rows<T> x, Rows<T> dy, Rows<T> dx, const float* bias,
                                float* dbias, int64_t rows, int64_t columns) {
  const int64_t j = int64_t(blockIdx.x) * columns_of_block + int64_t(threadIdx.x);
  float sum = 0;
  if (j < columns) {
    const float shift = bias != nullptr ? bias[j] : 0.0f;
    for (int64_t i = int64_t(threadIdx.y); i < rows; i += rows_of_block) {
      const float gradient = load(dy[i][j]) * derivative(kind, load(x[i][j]) + shift);
      store(&dx[i][j], gradient);
      sum += gradient;
    }
  }
  if (dbias == nullptr) return;
  sum = column_sum(sum);
  if (threadIdx.y == 0 && j < columns) dbias[j] += sum;
}

template <typename T>
struct Glu {
  Activation kind;
  int64_t columns, up;  // up: from a row's gate to its other half
  Rows<T> x, y;
  __device__ void operator()(int64_t at) const {
    const int64_t i = at / columns, j = at % columns;
    store(&y[i][j], value(kind, load(x[i][j])) * load(x[i][up + j]));
  }
};

template <typename T>
struct GluBackward {
  Activation kind;
  int64_t columns, up, dup;
  Rows<T> x, dy, dx;
  __device__ void operator()(int64_t at) const {
    const int64_t i = at / columns, j = at % columns;
    const float gate = load(x[i][j]), other = load(x[i][up + j]), gradient = load(dy[i][j]);
    store(&dx[i][j], gradient * other * derivative(kind, gate));
    store(&dx[i][dup + j], gradient * value(kind, gate));
  }
};

const float* bias_of(const View& bias) {
  return bias.defined() ? bias.as<float>() : nullptr;
}

}  // namespace

void activation(Stream stream, const ActivationArgs& args) {
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(stream, args.x.numel(),
             Forward<T>{args.kind, args.x.dim(1), Rows<T>(args.x), Rows<T>(args.y), bias_of(args.bias)});
  });
}

void activation_grad(Stream stream, const ActivationGradArgs& args) {
  if (args.x.numel() == 0) return;
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    launch_columns(stream, args.x.dim(1), backward_kernel<T>, args.kind, Rows<T>(args.x), Rows<T>(args.dy),
                   Rows<T>(args.dx), bias_of(args.bias),
                   args.dbias.defined() ? args.dbias.as<float>() : nullptr, args.x.dim(0), args.x.dim(1));
  });
}

void glu(Stream stream, const GluArgs& args) {
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(stream, args.y.numel(),
             Glu<T>{args.kind, args.y.dim(1), args.x.stride(1), Rows<T>(args.x), Rows<T>(args.y)});
  });
}

void glu_grad(Stream stream, const GluGradArgs& args) {
  with_type(args.x.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(stream, args.dy.numel(),
             GluBackward<T>{args.kind, args.dy.dim(1), args.x.stride(1), args.dx.stride(1), Rows<T>(args.x),
                            Rows<T>(args.dy), Rows<T>(args.dx)});
  });
}

}  // namespace shoal::gpu
