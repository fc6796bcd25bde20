// A model on a grid of all ranks, and the same model on one rank to compare with.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "comm/traffic.h"
#include "main.h"
#include "model/decoder.h"
#include "model/tiny.h"

namespace shoal {

// Every way to write the number of ranks as a product of four.
inline std::vector<Grid> all_grids(int ranks) {
  std::vector<Grid> grids;
  for (int x = 1; x <= ranks; ++x) {
    for (int y = 1; x * y <= ranks; ++y) {
      for (int z = 1; x * y * z <= ranks; ++z) {
        if (ranks % (x * y * z) == 0) grids.push_back({{x, y, z, ranks / (x * y * z)}});
      }
    }
  }
  return grids;
}

// Groups over MPI along the axes of a grid, their traffic booked in one ledger.
inline void join(Context& context, const Grid& grid, int rank, Traffic& traffic) {
  context.grid = grid;
  context.at = coordinates_of(grid, rank);
  constexpr const char* names[num_axes] = {"x", "y", "z", "data"};
  for (size_t axis = 0; axis < num_axes; ++axis) {
    if (grid.size[axis] == 1) continue;
    Coordinates first = context.at;
    first.at[axis] = 0;
    context.along[axis] = make_traced_communicator(
        make_mpi_communicator(mpi_session(), rank_of(grid, first), context.at.at[axis], names[axis], {}),
        traffic);
  }
}

struct GridModel {
  GridModel(const ModelConfig& config, const Grid& grid, DType compute, const DecoderOptions& options = {},
            const ParallelOptions& parallel = {})
      : device(make_device("cpu")),
        ops(make_ops(*device)),
        context(make_local_context(*device, *ops, compute, 1)),
        model(config, context, options) {
    join(context, grid, mpi_session().rank(), traffic);
    context.parallel = parallel;
    model.materialize();
    traffic.clear();
  }

  // One step over all rows of the batch; this replica's rows lie together.
  LossSums step(const TestBatch& batch, int64_t accumulation, double divisor) {
    const int64_t replicas = context.size(Axis::data) * context.size(Axis::z);
    const int64_t replica = context.at[Axis::data] * context.size(Axis::z) + context.at[Axis::z];
    const int64_t rows = batch.rows / replicas, micro = rows / accumulation;
    model.parameters().clear_grads();
    LossSums sums;
    for (int64_t m = 0; m < accumulation; ++m) {
      sums += model.train(batch.rows_from(replica * rows + m * micro, micro), divisor);
    }
    model.finish_gradients();
    return over_replicas(sums);
  }

  LossSums over_replicas(LossSums sums) {
    std::array<double, 2> values{sums.kept, double(sums.kept_tokens)};
    const View view(values.data(), DType::f64, {2});
    for (const Axis axis : {Axis::z, Axis::data})
      context.comm(axis).all_reduce(view, Reduce::sum, "loss").wait();
    sums.kept = values[0];
    sums.kept_tokens = int64_t(values[1]);
    return sums;
  }

  std::vector<float> values(const Tensor& tensor) const {
    std::vector<float> host(static_cast<size_t>(tensor.numel()));
    device->to_host(host.data(), tensor.view().data, tensor.view().bytes());
    return host;
  }

  // The gradient of a shard with the sum over data.
  std::vector<float> gradient(const Parameter& parameter) {
    std::vector<float> sum = values(parameter.grad);
    if (context.size(Axis::data) > 1) {
      const View view(sum.data(), DType::f32, {parameter.shard.count});
      context.comm(Axis::data).all_reduce(view, Reduce::sum, "AR_data " + parameter.spec.name).wait();
    }
    return sum;
  }

  // Plain gradient descent.
  void descend(float learning_rate) {
    for (const Parameter& p : model.parameters().all()) {
      const std::vector<float> sum = gradient(p);
      device->to_device(p.grad.view().data, sum.data(), p.grad.view().bytes());
      ops->axpby(-learning_rate, p.grad, 1.0f, p.master);
    }
    model.parameters().masters_changed(context);
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Ops> ops;
  Traffic traffic;
  Context context;
  Decoder model;
};

// The elements of a shard, of a whole tensor in host memory.
inline std::vector<float> shard_of(const Parameter& parameter, const std::vector<float>& whole) {
  std::vector<float> values;
  for (const Slab& slab : slabs_of(parameter.slab, parameter.shard)) {
    for (int64_t i = 0; i < slab.shape.numel(); ++i) {
      int64_t rest = i, at = 0, stride = 1;
      for (int d = slab.shape.rank() - 1; d >= 0; --d) {
        at += (slab.offset[d] + rest % slab.shape[d]) * stride;
        rest /= slab.shape[d];
        stride *= parameter.spec.shape[d];
      }
      values.push_back(whole[static_cast<size_t>(at)]);
    }
  }
  return values;
}

}  // namespace shoal
