#include "layers/parameter.h"

#include <memory>
#include <vector>

#include "layers/init.h"

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
  const auto count = static_cast<size_t>(parameter.master.numel());
  const auto host = std::make_unique_for_overwrite<float[]>(count);
  const Philox stream(context.seed, spec.name);
  for_each_run(spec.shape, parameter.slab, [&](int64_t element, int64_t local, int64_t length) {
    fill_normal(stream, element, length, spec.init.value, spec.init.truncate, host.get() + local);
  });
  context.device.to_device(parameter.master.view().data, host.get(), parameter.master.view().bytes());
}

}  // namespace

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
    parameter.slab = block_of(parameter.spec.shape, parameter.spec.shard, context.grid, context.at);
    parameter.master = Tensor(context.device, DType::f32, parameter.slab.shape);
    const bool copied = parameter.spec.matrix && context.compute != DType::f32;
    parameter.compute =
        copied ? Tensor(context.device, context.compute, parameter.slab.shape) : parameter.master;
    initialise(context, parameter);
  }
  masters_changed(context);
}

void ParameterRegistry::masters_changed(Context& context) {
  for (Parameter& parameter : parameters_) {
    if (parameter.compute.dtype() != DType::f32) context.ops.cast(parameter.master, parameter.compute);
  }
  context.ops.weights_changed();
}

void ParameterRegistry::clear_grads() {
  for (Parameter& parameter : parameters_) parameter.grad.reset();
}

const Tensor& grad_to_add(Ops& ops, Parameter& parameter) {
  bool accumulate = false;
  const Tensor& grad = grad_to_write(ops, parameter, accumulate);
  if (!accumulate) ops.fill(grad, 0.0f);
  return grad;
}

const Tensor& grad_to_write(Ops& ops, Parameter& parameter, bool& accumulate) {
  accumulate = parameter.grad.defined();
  if (!accumulate) parameter.grad = Tensor(ops.device(), DType::f32, parameter.slab.shape, Lifetime::lasting);
  return parameter.grad;
}

}  // namespace shoal
