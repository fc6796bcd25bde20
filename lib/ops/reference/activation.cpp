#include <cmath>
#include <numbers>

#include "ops/reference/elements.h"
#include "ops/reference/kernels.h"

namespace shoal::reference {
namespace {

constexpr double gelu_tanh_cubic = 0.044715;

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

double value(Activation kind, double x) {
  switch (kind) {
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::gelu_tanh: {
      const double u = std::sqrt(2.0 / std::numbers::pi) * (x + gelu_tanh_cubic * x * x * x);
      return x * sigmoid(2.0 * u);  // (1 + tanh(u)) / 2 is sigmoid(2 u), which does not cancel
    }
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::relu:
      return x > 0.0 ? x : 0.0;
  }
  SHOAL_CHECK(false);
}

double derivative(Activation kind, double x) {
  switch (kind) {
    case Activation::gelu: {
      const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
      return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
    }
    case Activation::gelu_tanh: {
      const double root = std::sqrt(2.0 / std::numbers::pi);
      const double s = sigmoid(2.0 * root * (x + gelu_tanh_cubic * x * x * x));
      const double slope = root * (1.0 + 3.0 * gelu_tanh_cubic * x * x);
      return s + x * 2.0 * s * (1.0 - s) * slope;
    }
    case Activation::silu: {
      const double s = sigmoid(x);
      return s + x * s * (1.0 - s);
    }
    case Activation::relu:
      return x > 0.0 ? 1.0 : 0.0;
  }
  SHOAL_CHECK(false);
}

}  // namespace

void activation(const ActivationArgs& args) {
  const Elements x(args.x), bias(args.bias), y(args.y);
  for_each_element(args.x, [&](int64_t i, int64_t j) {
    y.set(value(args.kind, x(i, j) + (args.bias.defined() ? bias(j) : 0.0)), i, j);
  });
}

void activation_grad(const ActivationGradArgs& args) {
  const Elements x(args.x), bias(args.bias), dy(args.dy), dx(args.dx), dbias(args.dbias);
  for (int64_t j = 0; j < args.x.dim(1); ++j) {
    double sum = 0.0;
    for (int64_t i = 0; i < args.x.dim(0); ++i) {
      const double input = x(i, j) + (args.bias.defined() ? bias(j) : 0.0);
      const double gradient = dy(i, j) * derivative(args.kind, input);
      dx.set(gradient, i, j);
      sum += gradient;
    }
    if (args.dbias.defined()) dbias.add(sum, j);
  }
}

void glu(const GluArgs& args) {
  const Elements x(args.x), y(args.y);
  for_each_element(args.y,
                   [&](int64_t i, int64_t j) { y.set(value(args.kind, x(i, 0, j)) * x(i, 1, j), i, j); });
}

void glu_grad(const GluGradArgs& args) {
  const Elements x(args.x), dy(args.dy), dx(args.dx);
  for_each_element(args.dy, [&](int64_t i, int64_t j) {
    const double gate = x(i, 0, j), up = x(i, 1, j), gradient = dy(i, j);
    dx.set(gradient * up * derivative(args.kind, gate), i, 0, j);
    dx.set(gradient * value(args.kind, gate), i, 1, j);
  });
}

}  // namespace shoal::reference
