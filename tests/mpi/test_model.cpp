// Both families on every grid of the ranks at hand, against the same model on one rank.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "grid_model.h"
#include "model/grid_check.h"

using namespace shoal;

namespace {

// What has to divide: the groups of heads by the product of x and y, the samples of a step by the replicas
// and the passes. Nothing else divides by two.
bool thirds() {
  return mpi_session().size() % 3 == 0;
}
int64_t head_groups() {
  return thirds() ? 6 : 8;
}
int64_t samples() {
  return thirds() ? 12 : 16;
}

ModelConfig neox() {
  ModelConfig c = tiny_neox();
  c.hidden_size = 45, c.num_layers = 2, c.num_heads = c.num_kv_heads = head_groups(), c.head_dim = 6;
  c.intermediate_size = 75;
  return c;
}

ModelConfig llama() {
  ModelConfig c = tiny_llama();
  c.hidden_size = 45, c.num_layers = 2, c.num_heads = 2 * head_groups(), c.num_kv_heads = head_groups();
  c.head_dim = 4;
  c.rotary_dims = 4, c.intermediate_size = 51, c.tie_embeddings = false;
  return c;
}

ModelConfig sequential_tied(ModelConfig c) {
  c.parallel_residual = false;
  c.tie_embeddings = true;
  return c;
}

double kept_targets(const TestBatch& batch) {
  double kept = 0;
  for (const float w : batch.weights) kept += double(w);
  return kept;
}

// The largest difference of this rank's part of each tensor, relative to the largest element of the whole.
template <typename Part>
double worst_difference(const ParameterRegistry& registry, const std::vector<std::vector<float>>& whole,
                        Part&& part) {
  double worst = 0;
  size_t index = 0;
  for (const Parameter& p : registry.all()) {
    const std::vector<float>& all = whole[index++];
    const std::vector<float> expected = shard_of(p, all), found = part(p);
    double scale = 0;
    for (const float v : all) scale = std::max(scale, std::abs(double(v)));
    for (size_t i = 0; i < expected.size(); ++i) {
      const double difference = std::abs(double(found[i]) - double(expected[i])) / scale;
      if (!(difference <= worst)) worst = difference;  // a NaN stays
    }
  }
  return worst;
}

struct Case {
  std::string name;
  ModelConfig config;
  DType compute = DType::f32;
  DecoderOptions options = {};
  int64_t accumulation = 1;
  int steps = 1;
  double loss_tolerance = 2e-5, gradient_tolerance = 2e-5, weight_tolerance = 2e-5;
};

constexpr float learning_rate = 0.5f;

TestBatch batch_of(const Case& c, int step) {
  return TestBatch(samples(), 8, c.config.vocab_size, uint64_t(100 + step));
}

// Training on one rank: the loss of each step, the gradients of the first, the weights after the last.
struct Course {
  explicit Course(const Case& c) {
    TestModel whole(c.config, c.compute, c.options);
    for (int step = 0; step < c.steps; ++step) {
      const TestBatch batch = batch_of(c, step);
      whole.model.parameters().clear_grads();
      losses.push_back(whole.model.train(batch.all(), kept_targets(batch)));
      if (step == 0) gradients = whole.gradients();
      for (const Parameter& p : whole.model.parameters().all()) {
        whole.ops->axpby(-learning_rate, p.grad, 1.0f, p.master);
      }
      whole.model.parameters().masters_changed(whole.context);
    }
    for (const Parameter& p : whole.model.parameters().all()) weights.push_back(whole.values(p.master));
  }
  std::vector<LossSums> losses;
  std::vector<std::vector<float>> gradients, weights;
};

void check_all_grids(const Case& c) {
  const Course expected(c);
  for (const Grid& grid : all_grids(mpi_session().size())) {
    CAPTURE(c.name);
    CAPTURE(to_string(grid));
    GridModel split(c.config, grid, c.compute, c.options);
    const ParameterRegistry& registry = split.model.parameters();
    for (int step = 0; step < c.steps; ++step) {
      CAPTURE(step);
      const TestBatch batch = batch_of(c, step);
      const LossSums sums = split.step(batch, c.accumulation, kept_targets(batch));
      const LossSums& reference = expected.losses[size_t(step)];
      CHECK(sums.kept_tokens == reference.kept_tokens);
      CHECK(std::abs(sums.kept / reference.kept - 1) < c.loss_tolerance);
      const auto gradient = [&](const Parameter& p) { return split.gradient(p); };
      if (step == 0) {
        CHECK(worst_difference(registry, expected.gradients, gradient) < c.gradient_tolerance);
      }
      split.descend(learning_rate);
    }
    const auto weight = [&](const Parameter& p) { return split.values(p.master); };
    CHECK(worst_difference(registry, expected.weights, weight) < c.weight_tolerance);
  }
}

}  // namespace

TEST_CASE("f32: loss, gradients and weights of every grid are those of one rank") {
  check_all_grids({.name = "gpt-neox", .config = neox()});
  check_all_grids({.name = "llama", .config = llama()});
}

TEST_CASE("f32: with accumulation, recomputation, tied embeddings, chunks of logits") {
  const DecoderOptions options{.recompute = true, .z_loss = 1e-3, .loss_chunk = 11};
  check_all_grids({.name = "gpt-neox",
                   .config = sequential_tied(neox()),
                   .options = options,
                   .accumulation = 2,
                   .steps = 20});
  check_all_grids({.name = "llama",
                   .config = sequential_tied(llama()),
                   .options = options,
                   .accumulation = 2,
                   .steps = 20});
}

TEST_CASE("f32: twenty steps of every grid are those of one rank") {
  for (ModelConfig config : {neox(), sequential_tied(llama())}) {
    config.num_layers = 1;  // few collectives: more ranks than cores wait for each
    check_all_grids({.name = config.family, .config = config, .steps = 20});
  }
}

// Partial products are rounded to bf16 before they are summed, so gradients differ by a few roundings of
// 2^-9.
TEST_CASE("bf16: loss and gradients of every grid are those of one rank within its rounding") {
  check_all_grids({.name = "gpt-neox",
                   .config = neox(),
                   .compute = DType::bf16,
                   .loss_tolerance = 2e-3,
                   .gradient_tolerance = 0.06,
                   .weight_tolerance = 0.02});
  check_all_grids({.name = "llama",
                   .config = llama(),
                   .compute = DType::bf16,
                   .loss_tolerance = 2e-3,
                   .gradient_tolerance = 0.06,
                   .weight_tolerance = 0.02});
}

TEST_CASE("evaluation on every grid gives the loss of one rank, and each token's") {
  const ModelConfig config = llama();
  const TestBatch batch(samples(), 8, config.vocab_size);
  TestModel whole(config, DType::f32);
  std::vector<float> expected_losses, losses;
  const LossSums expected = whole.model.evaluate(batch.all(), expected_losses);
  for (const Grid& grid : all_grids(mpi_session().size())) {
    CAPTURE(to_string(grid));
    GridModel split(config, grid, DType::f32);
    const LossSums sums = split.model.evaluate(batch.all(), losses);
    CHECK(std::abs(sums.kept / expected.kept - 1) < 2e-5);
    CHECK(sums.dropped_tokens == expected.dropped_tokens);
    for (size_t i = 0; i < losses.size(); ++i) REQUIRE(std::abs(losses[i] - expected_losses[i]) < 1e-4f);
  }
}

TEST_CASE("overlap, prefetching and keeping gathered weights change no bit") {
  const ModelConfig config = sequential_tied(neox());
  const TestBatch batch(samples(), 8, config.vocab_size);
  for (const Grid& grid : all_grids(mpi_session().size())) {
    if (grid[Axis::z] * grid[Axis::x] * grid[Axis::y] == 1) continue;
    CAPTURE(to_string(grid));
    std::vector<std::vector<float>> first;
    double first_loss = 0;
    for (const ParallelOptions& parallel :
         {ParallelOptions{.overlap = false, .prefetch = 0}, ParallelOptions{.prefetch = 0},
          ParallelOptions{.prefetch = 1}, ParallelOptions{.prefetch = 2, .regather = false}}) {
      GridModel split(config, grid, DType::bf16, {}, parallel);
      const LossSums sums = split.step(batch, 2, kept_targets(batch));
      std::vector<std::vector<float>> gradients;
      for (const Parameter& p : split.model.parameters().all()) gradients.push_back(split.gradient(p));
      if (first.empty()) {
        first = gradients;
        first_loss = sums.kept;
      }
      CHECK(sums.kept == first_loss);
      for (size_t i = 0; i < first.size(); ++i) {
        REQUIRE(std::memcmp(gradients[i].data(), first[i].data(), first[i].size() * sizeof(float)) == 0);
      }
    }
  }
}
