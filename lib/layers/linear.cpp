#include "layers/linear.h"

#include "layers/gradients.h"
#include "layers/rows.h"

namespace shoal {
namespace {

Parameter& add_weight(ParameterRegistry& registry, const Linear::Spec& spec) {
  ParameterSpec weight{.name = spec.name + ".weight", .shape = spec.out, .shard = {}, .init = spec.init};
  for (int i = 0; i < spec.in.rank(); ++i) weight.shape.append(spec.in[i]);
  const int out_dim = spec.out_split, in_dim = spec.out.rank();
  const bool over_x = spec.output_axis == OutputAxis::x;
  weight.shard = {over_x ? out_dim : in_dim, over_x ? in_dim : out_dim, true};
  weight.decay = weight.matrix = true;
  weight.output_dims = spec.out.rank();
  return registry.add(std::move(weight));
}

Parameter* add_bias(ParameterRegistry& registry, const Linear::Spec& spec) {
  if (!spec.bias) return nullptr;
  ParameterSpec bias{
      .name = spec.name + ".bias", .shape = spec.out, .shard = {}, .init = InitRule::constant(0)};
  (spec.output_axis == OutputAxis::x ? bias.shard.x_dim : bias.shard.y_dim) = spec.out_split;
  return &registry.add(std::move(bias));
}

}  // namespace

Linear::Linear(ParameterRegistry& registry, const Spec& spec)
    : registry_(registry),
      name_(spec.name),
      out_axis_(spec.output_axis == OutputAxis::x ? Axis::x : Axis::y),
      in_axis_(spec.output_axis == OutputAxis::x ? Axis::y : Axis::x),
      out_rank_(spec.out.rank()),
      weight_(add_weight(registry, spec)),
      bias_(add_bias(registry, spec)) {}

int64_t Linear::in_size_of(const Shape& shape) const {
  int64_t size = 1;
  for (int i = out_rank_; i < shape.rank(); ++i) size *= shape[i];
  return size;
}

void Linear::forward(Context& context, const Tensor& x, const View& y, bool accumulate,
                     bool with_bias) const {
  const Tensor rows = gather_rows(context, x, out_axis_, half_of_all_reduce(out_axis_, name_)).get();
  if (context.size(in_axis_) == 1) return multiply(context, rows, y, accumulate, with_bias);

  const Tensor partial(context.device, y.dtype, {rows.dim(0), out_size()});
  // One of the partial sums brings the bias.
  multiply(context, rows, partial, false, with_bias && context.at[in_axis_] == 0);
  const std::string label = half_of_all_reduce(in_axis_, name_);
  if (!accumulate) return scatter_rows_to(context, partial, y, in_axis_, label);
  context.ops.add(scatter_rows(context, partial, in_axis_, label).get(), y, y);
}

void Linear::backward(Context& context, const Tensor& dy, const Saved& x, Tensor& dx, bool with_bias) const {
  if (bias_ != nullptr && with_bias) {
    context.ops.bias_grad(dy, flat(registry_.gradients().to_add(*bias_)));
    registry_.gradients().written(*bias_);
  }
  const Tensor rows = gather_rows(context, dy, in_axis_, half_of_all_reduce(in_axis_, name_)).get();
  const bool accumulate = dx.defined();
  const std::string label = half_of_all_reduce(out_axis_, name_);
  if (context.size(out_axis_) == 1) {
    weight_grad(context, rows, x.get());
    if (!accumulate) dx = Tensor(context.device, dy.dtype(), {rows.dim(0), in_size()});
    return multiply_grad(context, rows, dx, accumulate);
  }
  RowsUnderWay inputs = gather_rows(context, x.get(), out_axis_, "again_" + label);
  const Tensor partial(context.device, dy.dtype(), {rows.dim(0), in_size()});
  multiply_grad(context, rows, partial, false);
  RowsUnderWay sum = scatter_rows(context, partial, out_axis_, label);
  weight_grad(context, rows, inputs.get());
  const Tensor gradient = sum.get();
  if (accumulate) {
    context.ops.add(gradient, dx, dx);
  } else {
    dx = gradient;
  }
}

void Linear::multiply(Context& context, const View& x, const View& y, bool accumulate, bool with_bias) const {
  const WeightBlock weight = registry_.weights().use(weight_);
  MatmulArgs args{.a = x, .b = weight.matrix(out_size()), .c = y, .transpose_b = true, .bias = {}};
  args.accumulate = accumulate;
  args.b_is_weight = true;
  args.b_is_passing = weight.passing;
  if (bias_ != nullptr && with_bias) args.bias = flat(bias_->master);
  context.ops.matmul(args);
}

void Linear::multiply_grad(Context& context, const View& dy, const View& dx, bool accumulate) const {
  const WeightBlock weight = registry_.weights().use(weight_);
  MatmulArgs args{.a = dy, .b = weight.matrix(out_size()), .c = dx, .accumulate = accumulate, .bias = {}};
  args.b_is_weight = true;
  args.b_is_passing = weight.passing;
  context.ops.matmul(args);
}

void Linear::weight_grad(Context& context, const View& dy, const View& x) const {
  MatmulArgs args{.a = dy, .b = x, .c = {}, .transpose_a = true, .bias = {}};
  const Tensor gradient = registry_.gradients().to_write(weight_, args.accumulate);
  args.c = gradient.view().reshape({out_size(), in_size()});
  context.ops.matmul(args);
  registry_.gradients().written(weight_);
}

}  // namespace shoal
