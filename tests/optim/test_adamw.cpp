#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "optim/clip.h"
#include "optim/optimizer.h"

using namespace shoal;

namespace {

// A registry of a matrix and a bias on the CPU, with gradients that a test sets.
struct Fixture {
  std::unique_ptr<Device> device = make_device("cpu");
  std::unique_ptr<Ops> ops = make_ops(*device);
  Context context;
  ParameterRegistry registry;

  explicit Fixture(DType compute) : context(make_local_context(*device, *ops, compute, 1)) {
    add("matrix", {7, 5}, true);
    add("bias", {5}, false);
    registry.materialize(context);
  }
  void add(const char* name, const Shape& shape, bool matrix) {
    ParameterSpec spec;
    spec.name = name;
    spec.shape = shape;
    spec.init = InitRule::normal(0.5);
    spec.decay = spec.matrix = matrix;
    registry.add(spec);
  }
  void set_gradients(int step) {
    for (Parameter& p : registry.all()) {
      const Philox draws(uint64_t(step), p.spec.name);
      const View grad = grad_to_add(*ops, p);
      for (int64_t i = 0; i < grad.numel(); ++i) grad.as<float>()[i] = float(draws.normal(uint64_t(i)));
    }
  }
};

// Algorithm 2 of Loshchilov and Hutter 2019 for one element.
struct Element {
  double p, m = 0, v = 0;
  void step(double g, int t, double lr, const OptimizerSection& s, double decay) {
    m = s.betas[0] * m + (1 - s.betas[0]) * g;
    v = s.betas[1] * v + (1 - s.betas[1]) * g * g;
    const double m_hat = m / (1 - std::pow(s.betas[0], t)), v_hat = v / (1 - std::pow(s.betas[1], t));
    p = p - lr * decay * p - lr * m_hat / (std::sqrt(v_hat) + s.eps);
  }
};

}  // namespace

TEST_CASE("AdamW follows the published algorithm in double precision") {
  OptimizerSection section;
  section.weight_decay = 0.3;
  for (const char* rule : {"matrices", "all", "none"}) {
    section.decay = rule;
    Fixture f(DType::f32);
    const auto optimizer = make_optimizer(section, f.registry, f.context);
    std::vector<std::vector<Element>> expected;
    for (const Parameter& p : f.registry.all()) {
      auto& elements = expected.emplace_back();
      for (int64_t i = 0; i < p.master.numel(); ++i) elements.push_back({p.master.view().as<float>()[i]});
    }
    for (int step = 1; step <= 30; ++step) {
      f.set_gradients(step);
      const double lr = 0.01 * step;
      optimizer->apply(step, lr, 0.5);
      size_t which = 0;
      for (const Parameter& p : f.registry.all()) {
        const bool decay = section.decay == "all" || (section.decay == "matrices" && p.spec.name == "matrix");
        for (int64_t i = 0; i < p.master.numel(); ++i) {
          Element& e = expected[which][size_t(i)];
          e.step(0.5 * double(p.grad.view().as<float>()[i]), step, lr, section, decay ? 0.3 : 0.0);
          REQUIRE(double(p.master.view().as<float>()[i]) == doctest::Approx(e.p).epsilon(2e-5));
        }
        ++which;
      }
    }
  }
}

TEST_CASE("AdamW writes the bf16 copy of matrices") {
  Fixture f(DType::bf16);
  OptimizerSection section;
  const auto optimizer = make_optimizer(section, f.registry, f.context);
  f.set_gradients(1);
  optimizer->apply(1, 0.1, 1.0);
  const Parameter& matrix = *f.registry.find("matrix");
  REQUIRE(matrix.compute.dtype() == DType::bf16);
  for (int64_t i = 0; i < matrix.master.numel(); ++i) {
    CHECK(matrix.compute.view().as<bf16>()[i].bits == bf16(matrix.master.view().as<float>()[i]).bits);
  }
}

TEST_CASE("a parameter that no backward has reached counts as a zero gradient") {
  Fixture f(DType::f32);
  const auto optimizer = make_optimizer(OptimizerSection{}, f.registry, f.context);
  f.set_gradients(1);
  Parameter& bias = *f.registry.find("bias");
  bias.grad.reset();
  const std::vector<float> before(bias.master.view().as<float>(), bias.master.view().as<float>() + 5);
  const double norm = gradient_norm(f.registry, f.context);
  optimizer->apply(1, 0.1, 1.0);
  for (size_t i = 0; i < 5; ++i) CHECK(bias.master.view().as<float>()[i] == before[i]);
  double sum = 0;
  const View matrix = f.registry.find("matrix")->grad;
  for (int64_t i = 0; i < matrix.numel(); ++i)
    sum += double(matrix.as<float>()[i]) * double(matrix.as<float>()[i]);
  CHECK(norm == doctest::Approx(std::sqrt(sum)).epsilon(1e-12));
}

TEST_CASE("optimizer state carries names, shapes and shard rules of the parameters") {
  Fixture f(DType::f32);
  const auto optimizer = make_optimizer(OptimizerSection{}, f.registry, f.context);
  REQUIRE(optimizer->state().size() == 4);
  CHECK(optimizer->state()[0].name == "optimizer/m/matrix");
  CHECK(optimizer->state()[3].name == "optimizer/v/bias");
  CHECK(optimizer->state()[1].shape == Shape{7, 5});
  CHECK(optimizer->describe() ==
        "adamw: betas 0.9 0.95, eps 1e-08; decay 0.1 on 1 matrices and embeddings (35), not on 1 norm "
        "weights and "
        "biases (5)");
}

TEST_CASE("clipping scales as PyTorch does") {
  CHECK(clip_scale(0.5, 1) == 1);
  CHECK(clip_scale(4, 1) == doctest::Approx(1 / 4.000001).epsilon(1e-15));
  CHECK(clip_scale(4, 0) == 1);
}

TEST_CASE("an unknown optimizer is refused with the names there are") {
  Fixture f(DType::f32);
  OptimizerSection section;
  section.name = "adam";
  CHECK_THROWS_WITH_AS(make_optimizer(section, f.registry, f.context), doctest::Contains("adamw"), UserError);
}
