#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/philox.h"
#include "optim/optimizer.h"

using namespace shoal;

namespace {

struct Fixture {
  std::unique_ptr<Device> device = make_device("cpu");
  std::unique_ptr<Ops> ops = make_ops(*device);
  Context context;
  ParameterRegistry registry;
  Parameter* p = nullptr;

  explicit Fixture(DType compute = DType::f32) : context(make_local_context(*device, *ops, compute, 1)) {
    ParameterSpec spec;
    spec.name = "matrix";
    spec.shape = {7, 5};
    spec.init = InitRule::normal(0.5);
    spec.decay = spec.matrix = true;
    p = &registry.add(spec);
    registry.materialize(context);
  }
  void set_gradients(int step, double size) {
    const Philox draws(uint64_t(step), "gradients");
    const View grad = grad_to_add(*ops, *p);
    for (int64_t i = 0; i < 35; ++i) grad.as<float>()[i] = float(size * draws.normal(uint64_t(i)));
  }
  std::vector<double> weight() const {
    std::vector<double> w;
    for (int64_t i = 0; i < 35; ++i) w.push_back(double(p->master.view().as<float>()[i]));
    return w;
  }
};

}  // namespace

TEST_CASE("adam-atan2 follows the published rules in double precision, through a burst of large gradients") {
  for (bool clip : {true, false}) {
    CAPTURE(clip);
    OptimizerSection section;
    section.name = "adam-atan2";
    section.clip_updates = clip;
    section.weight_decay = 0.2;
    Fixture f;
    const auto optimizer = make_optimizer(section, f.registry, f.context);
    std::vector<double> weight = f.weight(), m(35), v(35);
    double most = 0;
    for (int t = 1; t <= 30; ++t) {
      f.set_gradients(t, t == 20 ? 50.0 : 0.3);
      const double lr = 0.002 * t, scale = 0.5;
      double ratio = 0;
      for (size_t i = 0; i < 35; ++i) {
        const double g = scale * double(f.p->grad.view().as<float>()[i]);
        if (t == 1) m[i] = g, v[i] = g * g;
        m[i] = 0.9 * m[i] + 0.1 * g;
        v[i] = 0.95 * v[i] + 0.05 * g * g;
        ratio += g * g / std::max(v[i], 1e-16) / 35;
      }
      const double shrink = clip ? std::max(1.0, std::sqrt(ratio)) : 1.0;
      most = std::max(most, shrink);
      for (size_t i = 0; i < 35; ++i) {
        const double step = std::atan2(m[i], std::sqrt(v[i] / (1 - std::pow(0.95, t))));
        weight[i] = weight[i] * (1 - lr * 0.2) - lr / (1 - std::pow(0.9, t)) / shrink * step;
      }
      optimizer->apply(t, lr, scale);
      const auto got = f.weight();
      for (size_t i = 0; i < 35; ++i) REQUIRE(got[i] == doctest::Approx(weight[i]).epsilon(5e-5));
    }
    if (clip) CHECK(most > 3);
  }
}

TEST_CASE("adam-atan2 does not see the scale of the gradient") {
  std::vector<std::vector<double>> ends;
  for (double size : {1.0, 1024.0}) {
    OptimizerSection section;
    section.name = "adam-atan2";
    Fixture f;
    const auto optimizer = make_optimizer(section, f.registry, f.context);
    for (int t = 1; t <= 10; ++t) {
      f.set_gradients(t, size);
      optimizer->apply(t, 0.01, 1.0);
    }
    ends.push_back(f.weight());
  }
  for (size_t i = 0; i < 35; ++i) CHECK(ends[0][i] == doctest::Approx(ends[1][i]).epsilon(1e-5));
}

TEST_CASE("adam-atan2 leaves what has no gradient where it is, and keeps the compute copy") {
  OptimizerSection section;
  section.name = "adam-atan2";
  section.weight_decay = 0;
  Fixture f(DType::bf16);
  const auto optimizer = make_optimizer(section, f.registry, f.context);
  const auto before = f.weight();
  f.set_gradients(1, 0.0);
  optimizer->apply(1, 0.1, 1.0);
  CHECK(f.weight() == before);
  f.set_gradients(2, 1.0);
  optimizer->apply(2, 0.1, 1.0);
  CHECK(f.weight() != before);
  for (int64_t i = 0; i < 35; ++i) {
    CHECK(float(f.p->compute.view().as<bf16>()[i]) == float(bf16(f.p->master.view().as<float>()[i])));
  }
}
