// The activations at every magnitude a float can have, where a formula that is right around zero may
// overflow.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "ops/ops.h"
#include "ops/reference/reference_ops.h"

using namespace shoal;

TEST_CASE("activations and their slopes stay right from the smallest to the largest magnitudes") {
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device), reference = make_reference_ops(*device);
  std::vector<float> x;
  for (int exponent = -126; exponent <= 127; ++exponent) {
    for (float mantissa : {1.0f, 1.37f, 1.9f}) {
      x.push_back(std::ldexp(mantissa, exponent));
      x.push_back(-x.back());
    }
  }
  const auto n = static_cast<int64_t>(x.size());
  const auto row = [&](std::vector<float>& data) { return View(data.data(), DType::f32, {1, n}); };
  for (Activation kind : {Activation::gelu, Activation::gelu_tanh, Activation::silu, Activation::relu}) {
    std::vector<float> y(x.size()), dx(x.size()), ones(x.size(), 1.0f), y64(x.size()), dx64(x.size());
    ops->activation({.kind = kind, .x = row(x), .bias = {}, .y = row(y)});
    reference->activation({.kind = kind, .x = row(x), .bias = {}, .y = row(y64)});
    ops->activation_grad(
        {.kind = kind, .x = row(x), .bias = {}, .dy = row(ones), .dx = row(dx), .dbias = {}});
    reference->activation_grad(
        {.kind = kind, .x = row(x), .bias = {}, .dy = row(ones), .dx = row(dx64), .dbias = {}});
    float nan = std::nanf(""), out = 0;
    const View one(&nan, DType::f32, {1, 1}), result(&out, DType::f32, {1, 1});
    ops->activation({.kind = kind, .x = one, .bias = {}, .y = result});
    CHECK(std::isnan(out));
    for (size_t i = 0; i < x.size(); ++i) {
      CAPTURE(static_cast<int>(kind));
      CAPTURE(x[i]);
      CHECK(std::abs(y[i] - y64[i]) <= 1e-6 + 1e-5 * std::abs(y64[i]));
      CHECK(std::abs(dx[i] - dx64[i]) <= 1e-5);
    }
  }
}
