#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/philox.h"
#include "optim/muon.h"
#include "optim/sgd.h"

using namespace shoal;

namespace {

struct Fixture {
  std::unique_ptr<Device> device = make_device("cpu");
  std::unique_ptr<Ops> ops = make_ops(*device);
  Context context = make_local_context(*device, *ops, DType::f32, 1);
  ParameterRegistry registry;

  Parameter& add(const Shape& shape) {
    ParameterSpec spec;
    spec.name = "matrix";
    spec.shape = shape;
    spec.init = InitRule::normal(0.5);
    spec.decay = spec.matrix = true;
    Parameter& p = registry.add(spec);
    registry.materialize(context);
    return p;
  }
  static void fill(const Tensor& tensor, uint64_t seed) {
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      tensor.view().as<float>()[i] = float(Philox(seed, "muon").normal(uint64_t(i)));
    }
  }
};

}  // namespace

TEST_CASE("orthogonalize gives rows or columns that are nearly orthonormal, whatever the scale") {
  Fixture f;
  for (const Shape& shape : {Shape{5, 9}, Shape{9, 5}, Shape{1, 4}, Shape{6, 6}}) {
    const Tensor x(*f.device, DType::f32, shape), before(*f.device, DType::f32, shape);
    Fixture::fill(x, 3);
    Fixture::fill(before, 3);
    f.ops->scale(x, 1e-3f);
    orthogonalize(*f.ops, x);
    const bool wide = shape[0] <= shape[1];
    const int64_t n = std::min(shape[0], shape[1]), m = std::max(shape[0], shape[1]);
    auto at = [&](const Tensor& t, int64_t i, int64_t k) {
      return double(t.view().as<float>()[wide ? i * shape[1] + k : k * shape[1] + i]);
    };
    // Singular values between 0.68 and 1.25 bound the Gram matrix: its trace, and every direction's length.
    double trace = 0, same_direction = 0;
    for (int64_t i = 0; i < n; ++i) {
      double length = 0;
      for (int64_t k = 0; k < m; ++k) {
        length += at(x, i, k) * at(x, i, k);
        same_direction += at(x, i, k) * at(before, i, k);
      }
      CHECK(length < 1.25 * 1.25);
      trace += length;
    }
    CHECK(trace > 0.6 * 0.6 * double(n));
    CHECK(same_direction > 0);  // U V^T keeps the sign: <U V^T, U S V^T> is the sum of the singular values
  }
}

TEST_CASE("sgd follows its rule in double precision") {
  Fixture f;
  Parameter& p = f.add({3, 4});
  OptimizerSection section;
  section.momentum = 0.8;
  section.weight_decay = 0.2;
  Sgd sgd(section, {&p}, *f.ops);
  std::vector<double> weight(12), momentum(12, 0.0);
  for (size_t i = 0; i < 12; ++i) weight[i] = double(p.master.view().as<float>()[i]);
  for (int update = 1; update <= 20; ++update) {
    Fixture::fill(grad_to_add(*f.ops, p), uint64_t(update));
    sgd.apply(update, 0.05, 0.5);
    for (size_t i = 0; i < 12; ++i) {
      momentum[i] = 0.8 * momentum[i] + 0.5 * double(p.grad.view().as<float>()[i]);
      weight[i] = weight[i] * (1 - 0.05 * 0.2) - 0.05 * momentum[i];
      REQUIRE(double(p.master.view().as<float>()[i]) == doctest::Approx(weight[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("muon moves a matrix by about the learning rate times 0.2 in every element's root mean square") {
  Fixture f;
  Parameter& p = f.add({8, 16});
  const Tensor before(*f.device, DType::f32, {8, 16});
  f.ops->axpby(1.0f, p.master, 0.0f, before);
  OptimizerSection section;
  section.weight_decay = 0;
  Muon muon(section, {&p}, *f.ops);
  Fixture::fill(grad_to_add(*f.ops, p), 9);
  muon.apply(1, 0.01, 1.0);
  double sum = 0;
  for (int64_t i = 0; i < 128; ++i) {
    const double d = double(p.master.view().as<float>()[i]) - double(before.view().as<float>()[i]);
    sum += d * d;
  }
  const double rms = std::sqrt(sum / 128);
  CHECK(rms > 0.01 * 0.2 * 0.6);
  CHECK(rms < 0.01 * 0.2 * 1.3);
}
