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

struct Context {
  Device& device;
  Ops& ops;
  DType compute = DType::f32;  // of activations and of the copies of matrices that products read: f32 or bf16
  uint64_t seed = 1234;        // of initialisation
  Grid grid;
  Coordinates at;
  std::array<std::shared_ptr<Communicator>, num_axes> along;  // this rank's group along each axis

  Communicator& comm(Axis axis) const { return *along[static_cast<size_t>(axis)]; }
};

// A context of one rank.
Context make_local_context(Device& device, Ops& ops, DType compute, uint64_t seed);

}  // namespace shoal
