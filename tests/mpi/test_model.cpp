// Both families on every grid of the ranks at hand, against the same model on one rank.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <string>

#include "grid_model.h"

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

std::string to_string(const Grid& grid) {
  return fmt::format("x {} y {} z {} data {}", grid[Axis::x], grid[Axis::y], grid[Axis::z], grid[Axis::data]);
}

double kept_targets(const TestBatch& batch) {
  double kept = 0;
  for (const float w : batch.weights) kept += double(w);
  return kept;
}

// The largest difference of a gradient, relative to the largest gradient of its parameter, over all
// parameters and ranks.
double worst_gradient(GridModel& split, TestModel& whole) {
  double worst = 0;
  for (const Parameter& p : split.model.parameters().all()) {
    const Parameter& reference = *whole.model.parameters().find(p.spec.name);
    const std::vector<float> all = whole.values(reference.grad);
    const std::vector<float> expected = shard_of(p, all), found = split.gradient(p);
    double scale = 0;
    for (const float g : all) scale = std::max(scale, std::abs(double(g)));
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
  double loss_tolerance = 2e-5, gradient_tolerance = 2e-5;
};

void check_all_grids(const Case& c) {
  const TestBatch batch(samples(), 8, c.config.vocab_size);
  const double divisor = kept_targets(batch);
  TestModel whole(c.config, c.compute, c.options);
  whole.model.parameters().clear_grads();
  const LossSums expected = whole.model.train(batch.all(), divisor);
  for (const Grid& grid : all_grids(mpi_session().size())) {
    CAPTURE(c.name);
    CAPTURE(to_string(grid));
    GridModel split(c.config, grid, c.compute, c.options);
    const LossSums sums = split.step(batch, c.accumulation, divisor);
    CHECK(sums.kept_tokens == expected.kept_tokens);
    CHECK(std::abs(sums.kept / expected.kept - 1) < c.loss_tolerance);
    CHECK(worst_gradient(split, whole) < c.gradient_tolerance);
  }
}

}  // namespace

TEST_CASE("f32: loss and gradients of every grid are those of one rank") {
  check_all_grids({.name = "gpt-neox", .config = neox()});
  check_all_grids({.name = "llama", .config = llama()});
}

TEST_CASE("f32: with accumulation, recomputation, tied embeddings, chunks of logits") {
  const DecoderOptions options{.recompute = true, .z_loss = 1e-3, .loss_chunk = 11};
  check_all_grids(
      {.name = "gpt-neox", .config = sequential_tied(neox()), .options = options, .accumulation = 2});
  check_all_grids(
      {.name = "llama", .config = sequential_tied(llama()), .options = options, .accumulation = 2});
}

// Partial products are rounded to bf16 before they are summed, so gradients differ by a few roundings of
// 2^-9.
TEST_CASE("bf16: loss and gradients of every grid are those of one rank within its rounding") {
  check_all_grids({.name = "gpt-neox",
                   .config = neox(),
                   .compute = DType::bf16,
                   .loss_tolerance = 2e-3,
                   .gradient_tolerance = 0.06});
  check_all_grids({.name = "llama",
                   .config = llama(),
                   .compute = DType::bf16,
                   .loss_tolerance = 2e-3,
                   .gradient_tolerance = 0.06});
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
