#include <doctest/doctest.h>

#include <cmath>

#include "model/golden.h"
#include "model/tiny.h"

using namespace shoal;

namespace {

const ModelConfig configs[] = {tiny_neox(), tiny_llama()};

double worst_distance(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, distance(a[i], b[i]));
  return worst;
}

}  // namespace

TEST_CASE("recomputation gives the same bits as keeping activations") {
  for (const ModelConfig& config : configs) {
    for (DType compute : {DType::f32, DType::bf16}) {
      const TestBatch batch(2, 13, config.vocab_size);
      TestModel kept(config, compute), again(config, compute, {.recompute = true});
      const double a = kept.model.train(batch.all(), 20).kept, b = again.model.train(batch.all(), 20).kept;
      CHECK(a == b);
      CHECK(kept.gradients() == again.gradients());
    }
  }
}

TEST_CASE("gradients of micro-batches add up to those of the whole batch") {
  for (const ModelConfig& config : configs) {
    const TestBatch batch(8, 13, config.vocab_size);
    TestModel whole(config, DType::f32), parts(config, DType::f32);
    const LossSums all = whole.model.train(batch.all(), 77);
    LossSums sums;
    for (int64_t row = 0; row < 8; row += 2) sums += parts.model.train(batch.rows_from(row, 2), 77);
    CHECK(sums.kept == doctest::Approx(all.kept).epsilon(1e-6));
    CHECK(sums.dropped == doctest::Approx(all.dropped).epsilon(1e-6));
    CHECK(sums.kept_tokens == all.kept_tokens);
    CHECK(worst_distance(parts.gradients(), whole.gradients()) < 2e-6);

    // A second step starts from nothing again.
    parts.model.parameters().clear_grads();
    parts.model.train(batch.all(), 77);
    CHECK(parts.gradients() == whole.gradients());
  }
}

TEST_CASE("the chunk of the loss changes nothing but rounding") {
  const TestBatch batch(3, 13, 101);
  TestModel one(tiny_neox(), DType::f32, {.z_loss = 1e-3}),
      chunked(tiny_neox(), DType::f32, {.z_loss = 1e-3, .loss_chunk = 7});
  CHECK(one.model.train(batch.all(), 31).kept == doctest::Approx(chunked.model.train(batch.all(), 31).kept));
  CHECK(worst_distance(chunked.gradients(), one.gradients()) < 2e-6);
}

TEST_CASE("evaluation gives the loss of training, and each token's") {
  for (const ModelConfig& config : configs) {
    const TestBatch batch(2, 13, config.vocab_size);
    TestModel test(config, DType::f32, {.loss_chunk = 5});
    const LossSums trained = test.model.train(batch.all(), 1);
    std::vector<float> losses;
    const LossSums evaluated = test.model.evaluate(batch.all(), losses);
    CHECK(evaluated.kept == trained.kept);
    CHECK(evaluated.dropped == trained.dropped);
    CHECK(test.model.evaluate(batch.all()).kept == trained.kept);
    double kept = 0, all = 0;
    for (size_t i = 0; i < losses.size(); ++i) {
      all += losses[i];
      kept += losses[i] * batch.weights[i];
    }
    CHECK(kept == doctest::Approx(trained.kept).epsilon(1e-6));
    CHECK(all == doctest::Approx(trained.kept + trained.dropped).epsilon(1e-6));
    CHECK(trained.kept_tokens + trained.dropped_tokens == 26);
  }
}

TEST_CASE("an ignored target changes neither sums nor gradients") {
  TestBatch batch(1, 9, 101);
  TestModel test(tiny_neox(), DType::f32);
  batch.weights.assign(9, 1.0f);
  batch.weights[4] = 0;
  const double kept = test.model.train(batch.all(), 8).kept;
  const auto gradients = test.gradients();
  batch.targets[4] = -1;
  batch.weights[4] = 1;
  test.model.parameters().clear_grads();
  const LossSums sums = test.model.train(batch.all(), 8);
  CHECK(sums.kept == kept);
  CHECK(sums.kept_tokens == 8);
  CHECK(sums.dropped_tokens == 0);
  CHECK(test.gradients() == gradients);
}

// The derivative along a random direction, against central differences of the loss.
TEST_CASE("the gradient is the derivative of the loss") {
  for (const ModelConfig& config : configs) {
    const TestBatch batch(2, 11, config.vocab_size);
    TestModel test(config, DType::f32, {.z_loss = 1e-2});
    const auto loss = [&] {
      const LossSums sums = test.model.evaluate(batch.all());
      return sums.kept + 1e-2 * sums.z;
    };
    test.model.train(batch.all(), 1);
    for (Parameter& parameter : test.model.parameters().all()) {
      CAPTURE(parameter.spec.name);
      const auto gradient = test.values(parameter.grad);
      const View master = parameter.master;
      const std::vector<float> start = test.values(parameter.master);
      // Along the gradient itself, mixed with a random direction, so that the derivative is far from zero.
      std::vector<double> direction(gradient.size());
      const Philox random(5, parameter.spec.name);
      double norm = 0, dot = 0, square = 0;
      for (float g : gradient) norm += double(g) * g;
      norm = std::sqrt(norm / double(gradient.size()));
      for (size_t i = 0; i < gradient.size(); ++i) {
        direction[i] = gradient[i] + norm * random.normal(i);
        square += direction[i] * direction[i];
      }
      const double step = 4e-3 / std::sqrt(square);
      const auto move = [&](double by) {
        for (size_t i = 0; i < start.size(); ++i) master.as<float>()[i] = float(start[i] + by * direction[i]);
        test.model.parameters().masters_changed(test.context);
      };
      for (size_t i = 0; i < gradient.size(); ++i) dot += direction[i] * gradient[i];
      move(step);
      const double above = loss();
      move(-step);
      const double below = loss();
      move(0);
      CHECK((above - below) / (2 * step) == doctest::Approx(dot).epsilon(0.01));
    }
  }
}
