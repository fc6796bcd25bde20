// The activation functions as types, so that each kernel is compiled once for each of them.
#pragma once

#include "ops/cpu/vector_math.h"
#include "ops/ops.h"

namespace shoal::cpu {

struct ValueAndSlope {
  float value, slope;
};

struct Gelu {
  SHOAL_INLINE static float value(float x) { return x * normal(x).cumulative; }
  SHOAL_INLINE static ValueAndSlope both(float x) {
    const Normal n = normal(x);
    return {x * n.cumulative, n.cumulative + x * n.density};
  }
};

// (1 + tanh(u)) / 2 is sigmoid(2 u).
struct GeluTanh {
  static constexpr float linear = 1.59576912f;  // 2 sqrt(2 / pi)
  static constexpr float cubic = linear * 0.044715f;

  SHOAL_INLINE static float value(float x) {
    const float t = cut(x);
    return x * sigmoid(t * (linear + cubic * (t * t)));
  }
  SHOAL_INLINE static ValueAndSlope both(float x) {
    const float t = cut(x);
    const float s = sigmoid(t * (linear + cubic * (t * t)));
    const float slope = linear + 3.0f * cubic * (t * t);
    return {x * s, s + x * (slope * (s * (1.0f - s)))};
  }
};

struct Silu {
  SHOAL_INLINE static float value(float x) { return x * sigmoid(cut(x)); }
  SHOAL_INLINE static ValueAndSlope both(float x) {
    const float s = sigmoid(cut(x));
    return {x * s, s + x * (s * (1.0f - s))};
  }
};

// A NaN is kept, not taken for a negative number.
struct Relu {
  SHOAL_INLINE static float value(float x) { return x < 0.0f ? 0.0f : x; }
  SHOAL_INLINE static ValueAndSlope both(float x) { return {value(x), x > 0.0f ? 1.0f : 0.0f}; }
};

// Calls f with the type of the activation.
template <typename F>
void with_activation(Activation kind, F&& f) {
  switch (kind) {
    case Activation::gelu:
      return f(Gelu{});
    case Activation::gelu_tanh:
      return f(GeluTanh{});
    case Activation::silu:
      return f(Silu{});
    case Activation::relu:
      return f(Relu{});
  }
  SHOAL_CHECK(false);
}

}  // namespace shoal::cpu
