#include "layers/gradients.h"

namespace shoal {
namespace {

// Blocks that wait for their reduce-scatter: enough to hide one behind the products of a layer, few enough
// that the memory of whole gradients is not needed.
constexpr size_t most_under_way = 4;

// Cut by both tensor axes; what is not leaves a sum to finish_step.
bool is_matrix(const Parameter& parameter) {
  return parameter.spec.shard.x_dim >= 0 && parameter.spec.shard.y_dim >= 0;
}

}  // namespace

Tensor Gradients::to_write(Parameter& parameter, bool& accumulate) {
  if (direct(parameter)) return grad_to_write(context_.ops, parameter, accumulate);
  Tensor& block = blocks_[&parameter];
  accumulate = block.defined();
  if (!accumulate) {
    const int64_t size =
        parameter.over_z ? parameter.z_part * context_.size(Axis::z) : parameter.block_size();
    block = Tensor(context_.device, DType::f32, {size});
  }
  return block.part(0, parameter.slab.shape);
}

Tensor Gradients::to_add(Parameter& parameter) {
  bool accumulate = false;
  const Tensor gradient = to_write(parameter, accumulate);
  if (!accumulate) context_.ops.fill(gradient, 0.0f);
  return gradient;
}

void Gradients::written(Parameter& parameter) {
  if (++written_[&parameter] < parameter.spec.uses) return;
  written_.erase(&parameter);
  if (direct(parameter)) {
    if (on_ready && is_matrix(parameter)) on_ready(parameter);
    return;
  }
  const auto found = blocks_.find(&parameter);
  SHOAL_CHECK(found != blocks_.end());
  Tensor block = std::move(found->second);
  blocks_.erase(found);
  if (sink != nullptr) {
    sink->add(parameter, block.part(0, parameter.slab.shape));
    if (on_ready && is_matrix(parameter)) on_ready(parameter);
  } else {
    scatter(parameter, std::move(block));
  }
}

void Gradients::scatter(Parameter& parameter, Tensor block) {
  if (under_way_.size() == most_under_way) arrive();
  // The first of a step is the gradient; the others are added to it.
  bool accumulate = false;
  const Tensor& gradient = grad_to_write(context_.ops, parameter, accumulate);
  const int64_t part = parameter.z_part;
  // Behind a shard's elements there is room for the whole part.
  const Tensor arriving = accumulate ? Tensor(context_.device, DType::f32, {part}) : gradient;
  const View to(arriving.view().data, DType::f32, {part});
  Request request =
      context_.comm(Axis::z).reduce_scatter(block, to, Reduce::sum, "RS_z " + parameter.spec.name);
  under_way_.push_back({&parameter, std::move(block), accumulate ? arriving : Tensor(), std::move(request)});
  if (!context_.parallel.overlap) arrive();
}

void Gradients::arrive() {
  Scatter done = std::move(under_way_.front());
  under_way_.pop_front();
  done.request.wait();
  Parameter& parameter = *done.parameter;
  if (done.shard.defined()) {
    context_.ops.axpby(1.0f, done.shard.part(0, parameter.grad.shape()), 1.0f, parameter.grad);
  }
  if (on_ready) on_ready(parameter);
}

void Gradients::finish_pass() {
  while (!under_way_.empty()) arrive();
  SHOAL_CHECK(blocks_.empty() && written_.empty());
}

void Gradients::finish_step(const std::vector<Parameter*>& all) {
  std::vector<Parameter*> over_x, over_y, rest;
  for (Parameter* p : all) {
    if (is_matrix(*p)) continue;
    rest.push_back(p);
    if (p->spec.shard.x_dim < 0) over_x.push_back(p);
    if (p->spec.shard.y_dim < 0) over_y.push_back(p);
  }
  sum(over_x, Axis::x, "AR_x vectors");
  sum(over_y, Axis::y, "AR_y vectors");
  if (sink == nullptr) sum(rest, Axis::z, "AR_z vectors");
  if (!on_ready) return;
  for (Parameter* p : rest) on_ready(*p);
}

void Gradients::sum(const std::vector<Parameter*>& parameters, Axis axis, const char* label) {
  if (context_.size(axis) == 1 || parameters.empty()) return;
  int64_t size = 0;
  for (const Parameter* p : parameters) size += p->block_size();
  const Tensor all(context_.device, DType::f32, {size});
  const auto each = [&](auto act) {
    int64_t at = 0;
    for (Parameter* p : parameters) {
      act(all.part(at, {p->block_size()}), grad_to_add(context_.ops, *p).reshape({p->block_size()}));
      at += p->block_size();
    }
  };
  each([&](const View& place, const View& gradient) { context_.ops.cast(gradient, place); });
  context_.comm(axis).all_reduce(all, Reduce::sum, label).wait();
  each([&](const View& place, const View& gradient) { context_.ops.cast(place, gradient); });
}

}  // namespace shoal
