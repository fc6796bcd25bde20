// Clipping of the gradient by its global L2 norm (Pascanu et al. 2013).
#pragma once

#include "layers/parameter.h"
#include "ops/ops.h"

namespace shoal {

// The L2 norm over the gradients of all parameters. Each parameter's sum of squares is an f64; they are added
// in the registry's order, so that the result depends on nothing else.
double gradient_norm(const ParameterRegistry& parameters, Ops& ops);

// The factor that brings a norm down to clip_norm: clip_norm / (norm + 1e-6) (PyTorch's clip_grad_norm_), at
// most 1; 1 when clip_norm is 0.
double clip_scale(double norm, double clip_norm);

}  // namespace shoal
