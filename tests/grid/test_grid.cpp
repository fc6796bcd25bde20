#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <numeric>
#include <vector>

#include "grid/grid.h"

using namespace shoal;

namespace {

Grid any_grid() {
  Grid grid;
  for (int& size : grid.size) size = *rc::gen::inRange(1, 5);
  return grid;
}

Shape any_shape() {
  Shape shape;
  const int rank = *rc::gen::inRange(0, Shape::max_rank + 1);
  for (int d = 0; d < rank; ++d) shape.append(*rc::gen::inRange(1, 7));
  return shape;
}

ShardRule any_rule(const Shape& shape) {
  ShardRule rule;
  rule.x_dim = *rc::gen::inRange(-1, shape.rank());
  rule.y_dim = *rc::gen::inRange(-1, shape.rank());
  if (rule.y_dim == rule.x_dim) rule.y_dim = -1;
  rule.z_flat = *rc::gen::arbitrary<bool>();
  return rule;
}

// Adds one to every element of the slab in a row-major counter of the global tensor, and lists what it
// touched.
void count(const Shape& global, const Slab& slab, std::vector<int>& counter,
           std::vector<int64_t>* touched = nullptr) {
  for (int64_t i = 0; i < slab.shape.numel(); ++i) {
    int64_t left = i, flat = 0, stride = 1;
    for (int d = global.rank() - 1; d >= 0; --d) {
      flat += stride * (slab.offset[d] + left % slab.shape[d]);
      left /= slab.shape[d];
      stride *= global[d];
    }
    ++counter[static_cast<size_t>(flat)];
    if (touched) touched->push_back(flat);
  }
}

}  // namespace

TEST_CASE("ranks and coordinates are one to one, x fastest") {
  const Grid grid{{2, 3, 4, 5}};
  CHECK(coordinates_of(grid, 1).at == std::array{1, 0, 0, 0});
  CHECK(coordinates_of(grid, 2).at == std::array{0, 1, 0, 0});
  CHECK(coordinates_of(grid, 6).at == std::array{0, 0, 1, 0});
  CHECK(coordinates_of(grid, 24).at == std::array{0, 0, 0, 1});
  CHECK(rc::check("rank_of inverts coordinates_of", [] {
    const Grid g = any_grid();
    for (int rank = 0; rank < g.ranks(); ++rank) RC_ASSERT(rank_of(g, coordinates_of(g, rank)) == rank);
  }));
}

TEST_CASE("uneven parts give the first ranks one more") {
  CHECK(part_of(10, 4, 0).count == 3);
  CHECK(part_of(10, 4, 1).begin == 3);
  CHECK(part_of(10, 4, 2).count == 2);
  CHECK(part_of(10, 4, 3).end() == 10);
  CHECK(part_of(2, 3, 2).count == 0);
}

TEST_CASE("padded parts are equal but for the last ones") {
  CHECK(padded_part_of(10, 4, 0).count == 3);
  CHECK(padded_part_of(10, 4, 2).begin == 6);
  CHECK(padded_part_of(10, 4, 3).count == 1);
  CHECK(padded_part_of(10, 4, 3).end() == 10);
  CHECK(padded_part_of(5, 4, 3).count == 0);
  CHECK(padded_part_of(5, 4, 3).begin == 5);
}

TEST_CASE("the blocks of every grid hold every element once for each rank that does not cut it") {
  CHECK(rc::check("blocks and z ranges tile the tensor", [] {
    const Grid grid = any_grid();
    const Shape shape = any_shape();
    const ShardRule rule = any_rule(shape);
    std::vector<int> counter(static_cast<size_t>(shape.numel()));
    for (int rank = 0; rank < grid.ranks(); ++rank) {
      const Coordinates c = coordinates_of(grid, rank);
      const Slab block = block_of(shape, rule, grid, c);
      for (const Slab& slab : slabs_of(block, z_range_of(block.shape, rule, grid, c)))
        count(shape, slab, counter);
    }
    int copies = grid[Axis::data];
    if (rule.x_dim < 0) copies *= grid[Axis::x];
    if (rule.y_dim < 0) copies *= grid[Axis::y];
    if (!rule.z_flat) copies *= grid[Axis::z];
    for (int n : counter) RC_ASSERT(n == copies);
  }));
}

TEST_CASE("a flat range as slabs keeps row-major order and stays short") {
  CHECK(rc::check("slabs_of is in order", [] {
    const Shape shape = any_shape();
    const int64_t begin = *rc::gen::inRange<int64_t>(0, shape.numel() + 1);
    const int64_t length = *rc::gen::inRange<int64_t>(0, shape.numel() - begin + 1);
    const std::vector<Slab> slabs = slabs_of(whole(shape), {begin, length});
    std::vector<int> counter(static_cast<size_t>(shape.numel()));
    std::vector<int64_t> touched, expected(static_cast<size_t>(length));
    for (const Slab& slab : slabs) count(shape, slab, counter, &touched);
    std::iota(expected.begin(), expected.end(), begin);
    RC_ASSERT(touched == expected);
    RC_ASSERT(int(slabs.size()) <= std::max(1, 2 * shape.rank() - 1));
  }));
}
