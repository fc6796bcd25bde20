#include "layers/parameter.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "layers/gradients.h"
#include "layers/init.h"
#include "layers/weights.h"

namespace shoal {
namespace {

// Calls run(global element, local element, length) for each stretch of a slab that is contiguous in the
// global tensor.
template <typename Run>
void for_each_run(const Shape& global, const Slab& slab, Run run) {
  // Trailing dims that the slab holds whole make one stretch together with the dim before them.
  int dim = global.rank() - 1;
  int64_t length = 1;
  while (dim > 0 && slab.shape[dim] == global[dim]) length *= global[dim--];
  const int64_t below = length;  // elements a step of `dim`
  length *= slab.shape[dim];

  int64_t outer = 1;
  for (int i = 0; i < dim; ++i) outer *= slab.shape[i];
  for (int64_t o = 0; o < outer; ++o) {
    int64_t rest = o, stride = global[dim], at = slab.offset[dim];
    for (int i = dim - 1; i >= 0; --i) {
      at += (slab.offset[i] + rest % slab.shape[i]) * stride;
      rest /= slab.shape[i];
      stride *= global[i];
    }
    run(at * below, o * length, length);
  }
}

void initialise(Context& context, Parameter& parameter) {
  const ParameterSpec& spec = parameter.spec;
  if (spec.init.kind == InitRule::Kind::constant) {
    context.ops.fill(parameter.master, static_cast<float>(spec.init.value));
    return;
  }
  const auto count = static_cast<size_t>(parameter.owned.count);
  const auto host = std::make_unique_for_overwrite<float[]>(count);
  const Philox stream(context.seed, spec.name);
  float* to = host.get();
  for (const Slab& slab : slabs_of(parameter.slab, parameter.owned)) {
    for_each_run(spec.shape, slab, [&](int64_t element, int64_t local, int64_t length) {
      fill_normal(stream, element, length, spec.init.value, spec.init.truncate, to + local);
    });
    to += slab.shape.numel();
  }
  context.device.to_device(parameter.master.view().data, host.get(), parameter.master.view().bytes());
}

// Which part of a block this rank holds, and which of it it owns.
void cut(const Context& context, Parameter& p) {
  const int z = context.size(Axis::z), data = context.size(Axis::data);
  p.slab = block_of(p.spec.shape, p.spec.shard, context.grid, context.at);
  p.shard = z_range_of(p.slab.shape, p.spec.shard, context.grid, context.at);
  p.over_z = p.spec.shard.z_flat && z > 1;
  p.over_data = p.spec.shard.z_flat && data > 1 && context.parallel.shard_optimizer;
  p.z_part = p.over_z ? padded_part_of(p.block_size(), z, 0).count : p.block_size();
  p.owned = p.shard;
  p.data_part = p.room = p.z_part;
  if (!p.over_data) return;
  // Equal parts of the equal z parts, so that every z coordinate cuts alike.
  p.data_part = padded_part_of(p.z_part, data, 0).count;
  p.room = p.data_part * data;
  const int64_t begin = std::min(p.data_part * context.at[Axis::data], p.shard.count);
  p.owned = {p.shard.begin + begin, std::min(p.data_part, p.shard.count - begin)};
}

// A range of the block as a tensor over the beginning of a padded buffer.
Tensor view_of(const Parameter& p, const Range& range, const Tensor& buffer, int64_t begin = 0) {
  return buffer.part(begin, range.count == p.block_size() ? p.slab.shape : Shape{range.count});
}

void allocate(Context& context, Parameter& p) {
  const bool copied = p.spec.matrix && context.compute != DType::f32;
  const Tensor shard(context.device, copied ? context.compute : DType::f32, {p.room});
  p.compute = view_of(p, p.shard, shard);
  p.master = copied ? view_of(p, p.owned, Tensor(context.device, DType::f32, {p.data_part}))
                    : view_of(p, p.owned, shard, p.owned.begin - p.shard.begin);
}

}  // namespace

ParameterRegistry::ParameterRegistry() = default;
ParameterRegistry::~ParameterRegistry() = default;

Parameter& ParameterRegistry::add(ParameterSpec spec) {
  SHOAL_CHECK(find(spec.name) == nullptr);
  parameters_.emplace_back().spec = std::move(spec);
  return parameters_.back();
}

Parameter* ParameterRegistry::find(std::string_view name) {
  for (Parameter& parameter : parameters_) {
    if (parameter.spec.name == name) return &parameter;
  }
  return nullptr;
}

int64_t ParameterRegistry::count() const {
  int64_t total = 0;
  for (const Parameter& parameter : parameters_) total += parameter.spec.shape.numel();
  return total;
}

void ParameterRegistry::materialize(Context& context) {
  for (Parameter& parameter : parameters_) {
    cut(context, parameter);
    allocate(context, parameter);
    initialise(context, parameter);
  }
  weights_ = std::make_unique<Weights>(context);
  gradients_ = std::make_unique<Gradients>(context);
  masters_changed(context);
}

void ParameterRegistry::masters_changed(Context& context) {
  for (Parameter& p : parameters_) {
    if (p.compute.dtype() != DType::f32) {
      context.ops.cast(p.master, p.compute.part(p.owned.begin - p.shard.begin, p.master.shape()));
    }
  }
  gather_owned(context, *this);
  context.ops.weights_changed();
}

void ParameterRegistry::clear_grads() {
  for (Parameter& parameter : parameters_) parameter.grad.reset();
}

Request gather_owned(Context& context, const Parameter& p) {
  if (!p.over_data) return {};
  const View all(p.compute.view().data, p.compute.dtype(), {p.data_part * context.size(Axis::data)});
  const View mine = all.slice(0, p.data_part * context.at[Axis::data], p.data_part);
  return context.comm(Axis::data).all_gather(mine, all, "AG_data " + p.spec.name);
}

void gather_owned(Context& context, const ParameterRegistry& parameters) {
  std::vector<Request> gathers;
  for (const Parameter& p : parameters.all()) gathers.push_back(gather_owned(context, p));
  for (Request& gather : gathers) gather.wait();
}

const Tensor& grad_to_add(Ops& ops, Parameter& parameter) {
  bool accumulate = false;
  const Tensor& grad = grad_to_write(ops, parameter, accumulate);
  if (!accumulate) ops.fill(grad, 0.0f);
  return grad;
}

const Tensor& grad_to_write(Ops& ops, Parameter& p, bool& accumulate) {
  accumulate = p.grad.defined();
  if (!accumulate) {
    const Tensor buffer(ops.device(), DType::f32, {p.room}, Lifetime::lasting);
    p.grad = view_of(p, p.shard, buffer);
  }
  return p.grad;
}

}  // namespace shoal
