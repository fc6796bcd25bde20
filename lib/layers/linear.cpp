#include "layers/linear.h"

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

View flat(const View& view) {
  return view.reshape({view.numel()});
}

}  // namespace

Linear::Linear(ParameterRegistry& registry, const Spec& spec)
    : out_rank_(spec.out.rank()), weight_(add_weight(registry, spec)), bias_(add_bias(registry, spec)) {}

int64_t Linear::in_size_of(const Shape& shape) const {
  int64_t size = 1;
  for (int i = out_rank_; i < shape.rank(); ++i) size *= shape[i];
  return size;
}

void Linear::multiply(Context& context, const View& x, const View& y, bool accumulate, bool with_bias) const {
  MatmulArgs args{.a = x, .b = matrix(), .c = y, .transpose_b = true, .accumulate = accumulate, .bias = {}};
  args.b_is_weight = true;
  if (bias_ != nullptr && with_bias) args.bias = flat(bias_->master);
  context.ops.matmul(args);
}

void Linear::multiply_grad(Context& context, const View& dy, const View& dx, bool accumulate) const {
  MatmulArgs args{.a = dy, .b = matrix(), .c = dx, .accumulate = accumulate, .bias = {}};
  args.b_is_weight = true;
  context.ops.matmul(args);
}

void Linear::weight_grad(Context& context, const View& dy, const View& x, bool with_bias) const {
  MatmulArgs args{.a = dy, .b = x, .c = {}, .transpose_a = true, .bias = {}};
  args.c = grad_to_write(context.ops, weight_, args.accumulate).reshape({out_size(), in_size()});
  context.ops.matmul(args);
  if (bias_ != nullptr && with_bias) context.ops.bias_grad(dy, flat(grad_to_add(context.ops, *bias_)));
}

}  // namespace shoal
