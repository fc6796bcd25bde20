#include <doctest/doctest.h>

#include <cmath>

#include "comm/traffic.h"
#include "model/grid_check.h"
#include "model/tiny.h"

using namespace shoal;

namespace {

Grid grid(int x, int y, int z, int data) {
  return {{x, y, z, data}};
}

// 6 key-value heads, hidden 48.
ModelConfig six_heads() {
  ModelConfig config = tiny_neox();
  config.num_heads = config.num_kv_heads = 6, config.head_dim = 8;
  return config;
}

std::string joined(const std::vector<Grid>& grids) {
  std::string text;
  for (const Grid& g : grids) text += to_string(g) + "; ";
  return text;
}

}  // namespace

TEST_CASE("a grid that fits is no problem") {
  const ModelConfig config = six_heads();
  for (const Grid& g : {grid(1, 1, 1, 1), grid(2, 1, 1, 1), grid(3, 2, 1, 1), grid(6, 1, 5, 7)}) {
    CHECK_FALSE(grid_problem(config, g, 4, 30));
  }
  // Sequences divide by y though heads do not, and the other way round.
  CHECK_FALSE(grid_problem(config, grid(1, 4, 1, 1), 4, 30));
  CHECK_FALSE(grid_problem(config, grid(1, 6, 1, 1), 4, 30));
}

TEST_CASE("each rule that a grid breaks says what, where, how many and what would do") {
  const ModelConfig config = six_heads();
  struct Broken {
    Grid grid;
    BatchShape batch;
    const char *where, *value, *allowed;
  };
  const Broken cases[] = {
      {grid(4, 1, 1, 2), {4, 32}, "parallel.x", "6 / 4 ranks over x", "a divisor of 6: 1, 2, 3 or 6"},
      {grid(3, 1, 1, 1), {4, 32}, "parallel.x", "128 / 3", "a divisor of 128: 1, 2, 4, 8"},
      {grid(1, 3, 1, 1), {4, 32}, "parallel.y", "128 / 3", "a divisor of 128"},
      {grid(1, 4, 1, 1),
       {2, 32},
       "parallel.y",
       "batch.micro 2 / y 4, and 6 key-value heads / (x 1 * y 4)",
       "1 or 2; or x * y a divisor of the key-value heads: 1, 2, 3 or 6"},
      {grid(1, 1, 2, 2), {3, 32, 18}, "parallel.z", "18 / (batch.micro 3 * z 2 * data 2)", "6: 1, 2, 3 or 6"},
      {grid(1, 96, 1, 1), {96, 4}, "parallel.y", "48 over 96 ranks of y", "at most 48"},
  };
  for (const Broken& broken : cases) {
    CAPTURE(to_string(broken.grid));
    const auto problem = grid_problem(config, broken.grid, broken.batch);
    REQUIRE(problem);
    CAPTURE(problem->what);
    CAPTURE(problem->value);
    CAPTURE(problem->allowed);
    CHECK(problem->where.find(broken.where) == 0);
    CHECK(problem->value.find(broken.value) != std::string::npos);
    CHECK(problem->allowed.find(broken.allowed) != std::string::npos);
    CHECK(problem->hint.find("that fit, nearest first: x ") != std::string::npos);
  }
}

TEST_CASE("a pass runs on every rank of a grid that is no problem") {
  const ModelConfig config = six_heads();
  const TestBatch batch(4, 6, config.vocab_size);
  for (const Grid& g : nearest_grids(config, grid(1, 1, 1, 1), 24, {batch.rows, batch.length}, 1000)) {
    CAPTURE(to_string(g));
    for (const int rank : {0, g.ranks() - 1}) {
      const auto device = make_device("cpu");
      const auto ops = make_ops(*device);
      Context context = make_local_context(*device, *ops, DType::f32, 1);
      context.grid = g, context.at = coordinates_of(g, rank);
      for (size_t axis = 0; axis < num_axes; ++axis) {
        context.along[axis] = make_counting_communicator(context.at.at[axis], g.size[axis]);
      }
      Decoder model(config, context, {});
      model.materialize();
      const LossSums sums = model.train(batch.all(), 24);
      CHECK(std::isfinite(sums.kept));
    }
  }
}

TEST_CASE("the nearest grids fit, and differ least") {
  const ModelConfig config = six_heads();
  CHECK(joined(nearest_grids(config, grid(4, 1, 2, 1), 8, {4, 32}, 2)) ==
        "x 2, y 1, z 4, data 1; x 2, y 1, z 2, data 2; ");
  CHECK(joined(nearest_grids(config, grid(2, 2, 2, 1), 3, {4, 30}, 1)) == "x 1, y 1, z 3, data 1; ");
  // Steps of 4 sequences in passes of 4 leave one replica.
  CHECK(joined(nearest_grids(config, grid(1, 1, 8, 1), 4, {4, 32, 4})) ==
        "x 2, y 2, z 1, data 1; x 1, y 4, z 1, data 1; ");
  CHECK(nearest_grids(config, grid(1, 1, 5, 1), 5, {4, 32, 4}).empty());
  for (const Grid& g : nearest_grids(config, grid(1, 1, 1, 1), 24, {4, 30}, 1000)) {
    CAPTURE(to_string(g));
    CHECK(g.ranks() == 24);
    CHECK_FALSE(grid_problem(config, g, 4, 30));
  }
}

TEST_CASE("a wrong number of ranks is told with the product and the nearest grids") {
  const ModelConfig config = six_heads();
  const BatchShape batch{4, 32, 64};
  CHECK_FALSE(world_problem(config, grid(2, 2, 2, 1), 8, batch));
  const auto six = world_problem(config, grid(2, 2, 2, 1), 6, batch);
  REQUIRE(six);
  CHECK(six->what == "the grid is of 8 ranks, but 6 were started");
  CHECK(six->value == "x 2 * y 2 * z 2 * data 1 = 8");
  CHECK(six->hint.find("no grid of 6 ranks fits; grids of 4 ranks that fit, nearest first: x ") == 0);
  const auto one = world_problem(config, grid(1, 1, 4, 1), 1, batch);
  REQUIRE(one);
  CHECK(one->hint.find("mpiexec -n 4") != std::string::npos);
  // A number that is right for a grid that does not fit.
  CHECK(world_problem(config, grid(4, 1, 1, 1), 4, batch)->where == "parallel.x");
}
