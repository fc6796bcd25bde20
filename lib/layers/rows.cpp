#include "layers/rows.h"

namespace shoal {

RowsUnderWay gather_rows(Context& context, const Tensor& part, Axis axis, const std::string& label) {
  const int ranks = context.size(axis);
  if (ranks == 1) return {{}, part, {}};
  Tensor whole(context.device, part.dtype(), {part.dim(0) * ranks, part.dim(1)});
  Request request = context.comm(axis).all_gather(part, whole, label);
  if (!context.parallel.overlap) request.wait();
  return {part, whole, std::move(request)};
}

RowsUnderWay scatter_rows(Context& context, const Tensor& partial, Axis axis, const std::string& label) {
  const int ranks = context.size(axis);
  if (ranks == 1) return {{}, partial, {}};
  Tensor part(context.device, partial.dtype(), {partial.dim(0) / ranks, partial.dim(1)});
  Request request = context.comm(axis).reduce_scatter(partial, part, Reduce::sum, label);
  if (!context.parallel.overlap) request.wait();
  return {partial, part, std::move(request)};
}

void scatter_rows_to(Context& context, const Tensor& partial, const View& to, Axis axis,
                     const std::string& label) {
  context.comm(axis).reduce_scatter(partial, to, Reduce::sum, label).wait();
}

std::string half_of_all_reduce(Axis axis, const std::string& layer) {
  return (axis == Axis::x ? "AR_x " : "AR_y ") + layer;
}

}  // namespace shoal
