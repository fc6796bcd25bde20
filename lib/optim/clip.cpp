#include "optim/clip.h"

#include <algorithm>
#include <cmath>

namespace shoal {

double gradient_norm(const ParameterRegistry& parameters, const Context& context) {
  double sum = 0;
  for (const Parameter& p : parameters.all()) {
    // One that no backward has reached is zero.
    if (p.grad.defined() && counts_here(p, context)) sum += context.ops.sum_squares(p.grad);
  }
  sum_where_cut(View(&sum, DType::f64, {1}), context);
  return std::sqrt(sum);
}

bool counts_here(const Parameter& p, const Context& context) {
  const auto first = [&](Axis axis) { return context.at[axis] == 0; };
  return (p.spec.shard.x_dim >= 0 || first(Axis::x)) && (p.spec.shard.y_dim >= 0 || first(Axis::y)) &&
         (p.over_z || first(Axis::z)) &&
         (p.over_data || !context.parallel.shard_optimizer || first(Axis::data));
}

void sum_where_cut(const View& values, const Context& context) {
  for (const Axis axis : {Axis::x, Axis::y, Axis::z, Axis::data}) {
    if (context.size(axis) == 1 || (axis == Axis::data && !context.parallel.shard_optimizer)) continue;
    context.comm(axis).all_reduce(values, Reduce::sum, "counted once").wait();
  }
}

double clip_scale(double norm, double clip_norm) {
  return clip_norm > 0 ? std::min(1.0, clip_norm / (norm + 1e-6)) : 1.0;
}

}  // namespace shoal
