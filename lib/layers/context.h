// What every layer is given: where it computes, in what type, and its place in the grid. Passed by reference.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "comm/communicator.h"
#include "device/device.h"
#include "grid/grid.h"
#include "ops/ops.h"

namespace shoal {

// How work and communication are arranged. None of it changes the bits of a result.
struct ParallelOptions {
  bool overlap = true;           // false: every collective is waited for where it starts
  int prefetch = 1;              // how many matrices are gathered over z ahead of the one in use
  bool regather = true;          // gather over z again for backward; false: keep what forward gathered
  bool shard_optimizer = false;  // the owned part of a shard is cut once more, over data
};

struct Context {
  Device& device;
  Ops& ops;
  DType compute = DType::f32;  // of activations and of the copies of matrices that products read: f32 or bf16
  uint64_t seed = 1234;        // of initialisation
  Grid grid;
  Coordinates at;
  std::array<std::shared_ptr<Communicator>, num_axes> along;  // this rank's group along each axis
  ParallelOptions parallel;

  Communicator& comm(Axis axis) const { return *along[static_cast<size_t>(axis)]; }
  int size(Axis axis) const { return grid[axis]; }
};

// A context of one rank.
Context make_local_context(Device& device, Ops& ops, DType compute, uint64_t seed);

}  // namespace shoal
