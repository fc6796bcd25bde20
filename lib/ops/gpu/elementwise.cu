// Kernels that work on one element at a time: bound by the memory they move.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

template <typename T>
struct Add {
  Elements<T> a, b, out;
  __device__ void operator()(int64_t i) const { store(&out[i], load(a[i]) + load(b[i])); }
};

template <typename T>
struct Scale {
  Elements<T> x;
  float factor;
  __device__ void operator()(int64_t i) const { store(&x[i], load(x[i]) * factor); }
};

template <typename From, typename To>
struct Cast {
  Elements<From> from;
  Elements<To> to;
  __device__ void operator()(int64_t i) const { store(&to[i], load(from[i])); }
};

template <typename T>
struct Fill {
  Elements<T> x;
  float value;
  __device__ void operator()(int64_t i) const { store(&x[i], value); }
};

struct Axpby {
  float a, b;
  Elements<float> x, y;
  __device__ void operator()(int64_t i) const {
    y[i] = b == 0 ? a * x[i] : a * x[i] + b * y[i];  // y may hold anything, NaN too, when b is 0
  }
};

struct Symmetrize {
  Rows<float> x;
  int64_t n;
  __device__ void operator()(int64_t at) const {
    const int64_t i = at / n, j = at % n;
    if (j >= i) return;
    const float mean = 0.5f * (x[i][j] + x[j][i]);
    x[i][j] = mean;
    x[j][i] = mean;
  }
};

struct Adamw {
  float *param, *grad, *m, *v;
  bf16* copy;
  float beta1, rest1, beta2, rest2, decay, rate, root, eps, least, gradient_scale;
  bool atan2;
  __device__ void operator()(int64_t i) const {
    const float g = grad[i] * gradient_scale;
    const float first = beta1 * m[i] + rest1 * g;
    float second = beta2 * v[i] + rest2 * g * g;
    if (atan2) second = fmaxf(second, least);
    const float size = sqrtf(second) * root;
    const float p = param[i] * decay - rate * (atan2 ? atan2f(first, size) : first / (size + eps));
    m[i] = first;
    v[i] = second;
    param[i] = p;
    if (copy != nullptr) store(&copy[i], p);
  }
};

}  // namespace

void add(Stream stream, const View& a, const View& b, const View& out) {
  with_type(out.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(stream, out.numel(), Add<T>{Elements<T>(a), Elements<T>(b), Elements<T>(out)});
  });
}

void scale(Stream stream, const View& x, float factor) {
  with_type(x.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(stream, x.numel(), Scale<T>{Elements<T>(x), factor});
  });
}

void cast(Stream stream, const View& from, const View& to) {
  with_type(from.dtype, [&](auto source) {
    with_type(to.dtype, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      for_each(stream, from.numel(), Cast<From, To>{Elements<From>(from), Elements<To>(to)});
    });
  });
}

void fill(Stream stream, const View& x, float value) {
  with_type(x.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(stream, x.numel(), Fill<T>{Elements<T>(x), value});
  });
}

void axpby(Stream stream, float a, const View& x, float b, const View& y) {
  for_each(stream, x.numel(), Axpby{a, b, Elements<float>(x), Elements<float>(y)});
}

void symmetrize(Stream stream, const View& x) {
  SHOAL_CHECK(x.rank() == 2 && x.dim(0) == x.dim(1));
  for_each(stream, x.numel(), Symmetrize{Rows<float>(x), x.dim(0)});
}

void adamw(Stream stream, const AdamwArgs& args) {
  Adamw update{};
  update.param = args.param.as<float>();
  update.grad = args.grad.as<float>();
  update.m = args.m.as<float>();
  update.v = args.v.as<float>();
  update.copy = args.copy.defined() ? args.copy.as<bf16>() : nullptr;
  update.beta1 = float(args.beta1);
  update.rest1 = float(1.0 - args.beta1);
  update.beta2 = float(args.beta2);
  update.rest2 = float(1.0 - args.beta2);
  update.decay = float(1.0 - args.lr * args.weight_decay);
  update.rate = float(args.lr / args.correction1);
  update.root = float(1.0 / std::sqrt(args.correction2));
  update.eps = float(args.eps);
  update.least = float(args.eps * args.eps);
  update.gradient_scale = float(args.gradient_scale);
  update.atan2 = args.atan2;
  for_each(stream, args.param.numel(), update);
}

}  // namespace shoal::gpu
