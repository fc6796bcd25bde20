// Clipping of the gradient by its global L2 norm (Pascanu et al. 2013).
#pragma once

#include "layers/context.h"
#include "layers/parameter.h"
#include "ops/ops.h"

namespace shoal {

// The L2 norm over the gradients of all parameters, on a grid each part of each counted once. Each
// parameter's sum of squares is an f64; they are added in the registry's order, so that the result depends on
// nothing else. Collective; all ranks get the same bits.
double gradient_norm(const ParameterRegistry& parameters, const Context& context);

// Of the ranks that own the same part of a parameter one counts it: the first along each axis that does not
// cut it. Ranks along data count all unless parallel.shard_optimizer cuts something over it.
bool counts_here(const Parameter& parameter, const Context& context);
// Sums what those ranks have counted: over x, y and z, and over data with parallel.shard_optimizer.
void sum_where_cut(const View& values, const Context& context);

// The factor that brings a norm down to clip_norm: clip_norm / (norm + 1e-6) (PyTorch's clip_grad_norm_), at
// most 1; 1 when clip_norm is 0.
double clip_scale(double norm, double clip_norm);

}  // namespace shoal
