#include "optim/clip.h"

#include <algorithm>
#include <cmath>

namespace shoal {

double gradient_norm(const ParameterRegistry& parameters, Ops& ops) {
  double sum = 0;
  for (const Parameter& p : parameters.all()) {
    // One that no backward has reached is zero.
    if (p.grad.defined()) sum += ops.sum_squares(p.grad);
  }
  return std::sqrt(sum);
}

double clip_scale(double norm, double clip_norm) {
  return clip_norm > 0 ? std::min(1.0, clip_norm / (norm + 1e-6)) : 1.0;
}

}  // namespace shoal
