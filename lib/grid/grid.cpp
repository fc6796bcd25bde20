#include "grid/grid.h"

#include <algorithm>

#include "base/check.h"

namespace shoal {

Range part_of(int64_t total, int64_t n, int64_t i) {
  SHOAL_CHECK(total >= 0 && n > 0 && i >= 0 && i < n);
  const int64_t each = total / n, extra = total % n;
  return {i * each + std::min(i, extra), each + (i < extra ? 1 : 0)};
}

Range padded_part_of(int64_t total, int64_t n, int64_t i) {
  SHOAL_CHECK(total >= 0 && n > 0 && i >= 0 && i < n);
  const int64_t each = (total + n - 1) / n, begin = std::min(i * each, total);
  return {begin, std::min(each, total - begin)};
}

Coordinates coordinates_of(const Grid& grid, int rank) {
  SHOAL_CHECK(rank >= 0 && rank < grid.ranks());
  Coordinates c;
  for (size_t a = 0; a < num_axes; ++a) {
    c.at[a] = rank % grid.size[a];
    rank /= grid.size[a];
  }
  return c;
}

int rank_of(const Grid& grid, const Coordinates& c) {
  int rank = 0;
  for (size_t a = num_axes; a-- > 0;) {
    SHOAL_CHECK(c.at[a] >= 0 && c.at[a] < grid.size[a]);
    rank = rank * grid.size[a] + c.at[a];
  }
  return rank;
}

Slab whole(const Shape& global) {
  Slab slab{global, global};
  for (int d = 0; d < global.rank(); ++d) slab.offset[d] = 0;
  return slab;
}

Slab block_of(const Shape& global, const ShardRule& rule, const Grid& grid, const Coordinates& c) {
  SHOAL_CHECK(rule.x_dim < 0 || rule.x_dim != rule.y_dim);
  Slab slab = whole(global);
  const auto cut = [&](int dim, Axis axis) {
    if (dim < 0) return;
    const Range part = part_of(global[dim], grid[axis], c[axis]);
    slab.offset[dim] = part.begin;
    slab.shape[dim] = part.count;
  };
  cut(rule.x_dim, Axis::x);
  cut(rule.y_dim, Axis::y);
  return slab;
}

Replica replica_of(const ShardRule& rule, bool over_data, const Grid& grid, const Coordinates& c) {
  const bool cut[num_axes] = {rule.x_dim >= 0, rule.y_dim >= 0, rule.z_flat, over_data};
  Replica replica;
  for (size_t a = 0; a < num_axes; ++a) {
    if (cut[a]) continue;
    replica.index += c.at[a] * replica.count;
    replica.count *= grid.size[a];
  }
  return replica;
}

Range z_range_of(const Shape& block, const ShardRule& rule, const Grid& grid, const Coordinates& c) {
  const int64_t total = block.numel();
  return rule.z_flat ? padded_part_of(total, grid[Axis::z], c[Axis::z]) : Range{0, total};
}

std::vector<Slab> slabs_of(const Slab& block, const Range& flat) {
  SHOAL_CHECK(flat.begin >= 0 && flat.count >= 0 && flat.end() <= block.shape.numel());
  const int rank = block.shape.rank();
  std::vector<Slab> slabs;
  int64_t at = flat.begin;
  while (at < flat.end()) {
    // The largest slab that starts at `at`: rows of whole trailing dims, as far as alignment and the range
    // allow.
    int dim = rank;  // `row` elements make one step along dim - 1
    int64_t row = 1;
    while (dim > 1) {
      const int64_t next = row * block.shape[dim - 1];
      if (at % next != 0 || at + next > flat.end()) break;
      row = next;
      --dim;
    }
    Slab slab = block;
    int64_t left = at / row, count = 1;
    if (dim > 0) {
      const int64_t size = block.shape[dim - 1];
      count = std::min((flat.end() - at) / row, size - left % size);
      slab.offset[dim - 1] += left % size;
      slab.shape[dim - 1] = count;
      left /= size;
    }
    for (int d = dim - 2; d >= 0; --d) {
      slab.offset[d] += left % block.shape[d];
      slab.shape[d] = 1;
      left /= block.shape[d];
    }
    slabs.push_back(slab);
    at += count * row;
  }
  return slabs;
}

}  // namespace shoal
