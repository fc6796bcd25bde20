#include "optim/jorge_factor.h"

#include <cmath>

namespace shoal {

View JorgeWorkspace::square(int index, int64_t n) {
  Tensor& held = squares_[index];
  if (!held.defined() || held.numel() < n * n) held = Tensor(device_, DType::f32, {n * n});
  return held.view().slice(0, 0, n * n).reshape({n, n});
}

void jorge_start(Ops& ops, const View& factor, double epsilon) {
  ops.fill(factor, 0.0f);
  View diagonal(factor.data, factor.dtype, {factor.dim(0), 1});
  diagonal.strides = {factor.stride(0) + 1, 1};
  ops.fill(diagonal, static_cast<float>(std::pow(epsilon, -0.25)));
}

void jorge_refresh(Ops& ops, JorgeWorkspace& workspace, const View& factor, const View& gradient,
                   JorgeSide side, JorgeForm form) {
  const int64_t n = factor.dim(0);
  const View a = workspace.square(0, n), b = workspace.square(1, n), c = workspace.square(2, n);
  auto product = [&ops](const View& left, const View& right, const View& out) {
    ops.matmul({.a = left, .b = right, .c = out, .bias = {}});
  };
  const bool left = side == JorgeSide::left;
  ops.matmul(
      {.a = gradient, .b = gradient, .c = c, .transpose_a = !left, .transpose_b = left, .bias = {}});  // S
  product(factor, factor, a);                                                                          // F^2
  if (form == JorgeForm::symmetric) {
    product(a, c, b);
    product(b, a, c);  // X = F^2 S F^2
  } else {
    product(a, c, b);
    product(a, b, c);  // X = F^4 S
  }
  const double norm = std::sqrt(ops.sum_squares(c));
  if (!(norm > 0)) return;

  ops.scale(c, static_cast<float>(1 / norm));
  product(c, c, a);
  ops.axpby(-0.25f, c, 5.0f / 32.0f, a);  // what the bracket has beside I
  product(factor, a, b);
  const auto growth = static_cast<float>(std::pow((1 + norm) / norm, 0.25));
  ops.axpby(growth, b, growth, factor);
  ops.symmetrize(factor);
}

}  // namespace shoal
