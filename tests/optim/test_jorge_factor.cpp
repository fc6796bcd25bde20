#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/philox.h"
#include "ops/reference/reference_ops.h"
#include "optim/jorge_factor.h"

using namespace shoal;

namespace {

struct Fixture {
  std::unique_ptr<Device> device = make_device("cpu");
  std::unique_ptr<Ops> ops = make_reference_ops(*device);
  JorgeWorkspace workspace{*device};

  Tensor matrix(int64_t rows, int64_t columns) { return Tensor(*device, DType::f32, {rows, columns}); }
  Tensor started(int64_t n, double epsilon) {
    Tensor factor = matrix(n, n);
    jorge_start(*ops, factor, epsilon);
    return factor;
  }
};

float& at(const Tensor& m, int64_t i, int64_t j) {
  return m.view().as<float>()[i * m.dim(1) + j];
}

}  // namespace

TEST_CASE("jorge: a constant scalar gradient reaches the fixed point 2.0723450387") {
  for (JorgeForm form : {JorgeForm::symmetric, JorgeForm::published}) {
    Fixture f;
    Tensor factor = f.started(1, 1e-6), gradient = f.matrix(1, 1);
    for (double g : {0.1, 1.0, 30.0}) {
      at(gradient, 0, 0) = static_cast<float>(g);
      for (int t = 0; t < 400; ++t)
        jorge_refresh(*f.ops, f.workspace, factor, gradient, JorgeSide::left, form);
      CHECK(std::pow(double(at(factor, 0, 0)), 4) * g * g ==
            doctest::Approx(2.0723450387494693).epsilon(1e-5));
    }
  }
}

TEST_CASE("jorge: n equal eigenvalues reach the values of the closed form") {
  for (JorgeForm form : {JorgeForm::symmetric, JorgeForm::published}) {
    Fixture f;
    const std::pair<int64_t, double> table[] = {{2, 1.37287}, {4, 1.15605}, {16, 1.03316}, {64, 1.00776}};
    for (auto [n, expected] : table) {
      CAPTURE(n);
      Tensor factor = f.started(n, n == 64 ? 0.24 : 1e-2), gradient = f.matrix(n, n);
      jorge_start(*f.ops, gradient, 1.0);  // I
      f.ops->scale(gradient, 0.5f);        // G G^T = I / 4
      for (int t = 0; t < (n == 64 ? 60 : 200); ++t) {
        jorge_refresh(*f.ops, f.workspace, factor, gradient, JorgeSide::left, form);
      }
      CHECK(std::pow(double(at(factor, n - 1, n - 1)), 4) * 0.25 == doctest::Approx(expected).epsilon(1e-4));
      CHECK(at(factor, 0, n - 1) == doctest::Approx(0.0));
    }
  }
}

// G = C^(1/2) Z with Z of independent normals, so that G G^T has the mean columns * C.
TEST_CASE(
    "jorge: random gradients lead both sides to the inverse fourth root of their covariance within 3 %") {
  Fixture f;
  const int64_t n = 16, columns = 16;
  for (const auto& [side, form] : {std::pair{JorgeSide::left, JorgeForm::symmetric},
                                   {JorgeSide::right, JorgeForm::symmetric},
                                   {JorgeSide::left, JorgeForm::published}}) {
    Tensor factor = f.started(n, 1e-6), gradient = f.matrix(n, columns);
    std::vector<double> mean(static_cast<size_t>(n), 0.0);
    const Philox random(7, "jorge");
    uint64_t draw = 0;
    const int refreshes = 900, averaged = 600;
    for (int t = 0; t < refreshes; ++t) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          const double c = 0.1 + 1.9 * double(i) / double(n - 1);
          float& g = side == JorgeSide::left ? at(gradient, i, j) : at(gradient, j, i);
          g = static_cast<float>(std::sqrt(c) * random.normal(draw++) / std::sqrt(double(columns)));
        }
      }
      jorge_refresh(*f.ops, f.workspace, factor, gradient, side, form);
      if (t < refreshes - averaged) continue;
      for (int64_t i = 0; i < n; ++i) mean[size_t(i)] += at(factor, i, i) / averaged;
    }
    for (int64_t i = 0; i < n; ++i) {
      const double c = 0.1 + 1.9 * double(i) / double(n - 1);
      CAPTURE(i);
      CHECK(mean[size_t(i)] * std::pow(c, 0.25) == doctest::Approx(1.0).epsilon(0.03));
      for (int64_t j = 0; j < n; ++j) REQUIRE(at(factor, i, j) == at(factor, j, i));
    }
  }
}

TEST_CASE("jorge: a gradient of zeros changes nothing") {
  Fixture f;
  Tensor factor = f.started(3, 1e-4), gradient = f.matrix(3, 5);
  f.ops->fill(gradient, 0.0f);
  jorge_refresh(*f.ops, f.workspace, factor, gradient, JorgeSide::left);
  CHECK(at(factor, 1, 1) == doctest::Approx(10.0));
  CHECK(at(factor, 1, 2) == 0.0f);
}
