#include "optim/muon.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal {

void orthogonalize(Ops& ops, const View& x) {
  const double norm = std::sqrt(ops.sum_squares(x));
  if (!(norm > 0)) return;
  ops.scale(x, float(1 / norm));
  const int64_t rows = x.dim(0), columns = x.dim(1);
  const bool wide = rows <= columns;
  const int64_t n = std::min(rows, columns);
  const Tensor gram(ops.device(), DType::f32, {n, n}), square(ops.device(), DType::f32, {n, n});
  const Tensor product(ops.device(), DType::f32, {rows, columns});
  for (int step = 0; step < 5; ++step) {
    ops.matmul({.a = x, .b = x, .c = gram, .transpose_a = !wide, .transpose_b = wide, .bias = {}});
    ops.matmul({.a = gram, .b = gram, .c = square, .bias = {}});
    ops.axpby(-4.7750f, gram, 2.0315f, square);
    ops.matmul({.a = wide ? square.view() : x, .b = wide ? x : square.view(), .c = product, .bias = {}});
    ops.axpby(1.0f, product, 3.4445f, x);
  }
}

Muon::Muon(const OptimizerSection& section, const std::vector<Parameter*>& parameters, Ops& ops)
    : section_(section), ops_(ops), rest_(section, without_matrices(parameters), ops) {
  for (Parameter* p : parameters) {
    if (!is_weight_matrix(p->spec)) continue;
    matrices_.push_back(p);
    state_.push_back(make_state("momentum", *p, ops_));
  }
  for (OptimizerTensor& tensor : rest_.state()) state_.push_back(tensor);
}

void Muon::apply(int64_t update, double lr, double gradient_scale) {
  rest_.apply(update, adamw_rate(section_, lr), gradient_scale);
  for (size_t i = 0; i < matrices_.size(); ++i) {
    Parameter& p = *matrices_[i];
    const View momentum = as_matrix(state_[i].value, p.spec),
               gradient = as_matrix(grad_to_add(ops_, p), p.spec);
    ops_.axpby(float(gradient_scale), gradient, float(section_.momentum), momentum);
    const Tensor step(ops_.device(), DType::f32, momentum.shape);
    ops_.axpby(float(gradient_scale), gradient, 0.0f, step);
    ops_.axpby(float(section_.momentum), momentum, 1.0f, step);
    orthogonalize(ops_, step);
    const double size = 0.2 * std::sqrt(double(std::max(momentum.dim(0), momentum.dim(1))));
    const double decay = decays(section_, p.spec) ? section_.weight_decay : 0.0;
    ops_.axpby(float(-lr * size), step, float(1 - lr * decay), as_matrix(p.master, p.spec));
    update_compute_copy(p, ops_);
  }
}

std::string Muon::describe() const {
  return fmt::format("muon: {} matrices, momentum {:g}; {}; the rest {}", matrices_.size(), section_.momentum,
                     describe_decay(section_, matrices_), rest_.describe());
}

}  // namespace shoal
