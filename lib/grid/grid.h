// The parallel grid: ranks and coordinates. Pure functions.
// Rank order, fastest first: x, y, z, data (AxoNN, Singh et al. 2024, arXiv 2502.08145).
#pragma once

#include <array>
#include <cstdint>

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

Coordinates coordinates_of(const Grid& grid, int rank);
int rank_of(const Grid& grid, const Coordinates& c);

// How a global tensor is cut: which tensor dim the x and the y axis split (-1: none), and whether what is left is cut
// once more over z, as equal parts of the local block flattened in row-major order.
struct ShardRule {
  int x_dim = -1;
  int y_dim = -1;
  bool z_flat = false;
};

// A rectangular part of a global tensor.
struct Slab {
  Shape offset, shape;  // same rank as the global shape
};

// The block of a tensor at given coordinates, before the cut over z. Uneven sizes give the first ranks one more.
Slab block_of(const Shape& global, const ShardRule& rule, const Grid& grid, const Coordinates& c);

}  // namespace shoal
