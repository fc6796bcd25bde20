// The parallel grid: ranks and coordinates. Pure functions.
// Rank order, fastest first: x, y, z, data (AxoNN, Singh et al. 2024, arXiv 2502.08145).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/view.h"

namespace shoal {

enum class Axis : uint8_t { x, y, z, data };
constexpr int num_axes = 4;

struct Grid {
  std::array<int, num_axes> size{1, 1, 1, 1};
  int operator[](Axis a) const { return size[static_cast<size_t>(a)]; }
  int ranks() const { return size[0] * size[1] * size[2] * size[3]; }
};

struct Coordinates {
  std::array<int, num_axes> at{0, 0, 0, 0};
  int operator[](Axis a) const { return at[static_cast<size_t>(a)]; }
};

struct Range {
  int64_t begin = 0, count = 0;
  int64_t end() const { return begin + count; }
};

// Part i of n of the numbers 0 .. total-1, in order; the first total % n parts hold one more.
Range part_of(int64_t total, int64_t n, int64_t i);

// Part i of n when every part but the last ones holds ceil(total / n), so that equal parts of a buffer padded
// to n ceil(total / n) hold them all, and one collective moves them. The last parts may be short or empty.
Range padded_part_of(int64_t total, int64_t n, int64_t i);

// rank = x + X (y + Y (z + Z data)).
Coordinates coordinates_of(const Grid& grid, int rank);
int rank_of(const Grid& grid, const Coordinates& c);

// How a global tensor is cut: which tensor dim the x and the y axis split (-1: none), and whether what is
// left is cut once more over z, as parts of the local block flattened in row-major order. x and y must split
// different dims.
struct ShardRule {
  int x_dim = -1;
  int y_dim = -1;
  bool z_flat = false;
};

// A rectangular part of a global tensor.
struct Slab {
  Shape offset, shape;  // same rank as the global shape
};

// The block of a tensor at given coordinates, before the cut over z. Uneven sizes give the first ranks one
// more.
Slab block_of(const Shape& global, const ShardRule& rule, const Grid& grid, const Coordinates& c);

// Ranks of a grid that hold the same part of a tensor: which of them this one is, and how many they are.
struct Replica {
  int index = 0, count = 1;
};

// An axis that does not cut a tensor replicates it. over_data: the data axis cuts what z leaves.
Replica replica_of(const ShardRule& rule, bool over_data, const Grid& grid, const Coordinates& c);

// The whole of a global tensor as one slab.
Slab whole(const Shape& global);

// The elements of the flattened block that a z coordinate holds: all of them without z_flat, else its
// padded_part_of them.
Range z_range_of(const Shape& block, const ShardRule& rule, const Grid& grid, const Coordinates& c);

// A range of a flattened block as rectangular slabs of the global tensor, in ascending row-major order, so
// that it can be read and written as hyperslabs: at most 2 rank - 1 of them.
std::vector<Slab> slabs_of(const Slab& block, const Range& flat);

}  // namespace shoal
