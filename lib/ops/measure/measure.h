// How fast the operations are on this machine: of matrix products, and of everything else against the
// memory's speed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ops/measure/shapes.h"
#include "ops/ops.h"

namespace shoal {

// The least time of one call in seconds, over calls for at least `seconds` and no fewer than three.
double least_time(Ops& ops, double seconds, const std::function<void()>& call);

// One product as the layers call it: the weight [out, in] transposed in the forward pass, the weight's
// gradient added to in f32. Returns seconds.
double measure_product(Ops& ops, DType dtype, const Product& product, double seconds);

// The speed of a large product in GFLOP/s, in about a quarter of a second: what model FLOP utilisation is
// measured against.
double measure_peak_gflops(Ops& ops, DType dtype);

// Bytes a second of a copy that reads and writes `bytes` together.
double measure_copy(Ops& ops, int64_t bytes, double seconds);

// One operation at the size a step uses it. bytes is the least that it can move; count is how often a step
// does it.
struct KernelCall {
  std::string name;
  double count;
  int64_t bytes;
  std::function<void(Ops& ops)> run;
};

// All but the matrix products. The calls own their tensors, which are the device's.
std::vector<KernelCall> kernels_of(Ops& ops, DType dtype, const StepShape& shape);

}  // namespace shoal
