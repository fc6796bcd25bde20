// Rows of activations on their way between the ranks of an axis. Between layers no rank holds what another
// holds too: a layer gathers the rows that it multiplies, and sums partial products into the rows that each
// rank keeps (Korthikanti et al. 2022, "Reducing activation recomputation", on both tensor axes).
#pragma once

#include <string>

#include "layers/context.h"

namespace shoal {

struct RowsUnderWay {
  Tensor source, value;
  Request request;

  Tensor get() {
    request.wait();
    source.reset();
    return std::move(value);
  }
};

// [M / n, F] on each of n ranks -> [M, F] on all.
RowsUnderWay gather_rows(Context& context, const Tensor& part, Axis axis, const std::string& label);
// Partial sums [M, F] on each of n ranks -> [M / n, F], summed.
RowsUnderWay scatter_rows(Context& context, const Tensor& partial, Axis axis, const std::string& label);
// The same into memory of the caller's, done on return.
void scatter_rows_to(Context& context, const Tensor& partial, const View& to, Axis axis,
                     const std::string& label);

// "AR_x layers.3.mlp.up": one half of the all-reduce over an axis of the published equations. A gather that
// those do not have is labelled "again_AR_x ...".
std::string half_of_all_reduce(Axis axis, const std::string& layer);

}  // namespace shoal
