#include "optim/jorge.h"

#include <fmt/format.h>

#include <cmath>

namespace shoal {
namespace {

// Block b's factor [n, n] out of a stack [blocks, size, size].
View factor_of(const View& stack, int64_t b, int64_t n) {
  return stack.slice(0, b, 1).reshape({stack.dim(1), stack.dim(2)}).slice(0, 0, n).slice(1, 0, n);
}

}  // namespace

Jorge::Jorge(const OptimizerSection& section, const std::vector<Parameter*>& parameters, Ops& ops)
    : section_(section),
      ops_(ops),
      rest_(section, without_matrices(parameters), ops),
      workspace_(ops.device()) {
  for (Parameter* p : parameters) {
    if (is_weight_matrix(p->spec)) add(*p);
  }
  // Views into the state stay valid: tensors share their memory with the copies in the vector.
  for (OptimizerTensor& tensor : rest_.state()) state_.push_back(tensor);
}

void Jorge::add(Parameter& parameter) {
  const View weight = as_matrix(parameter.master, parameter.spec);
  const MatrixBlocks blocks(weight.dim(0), weight.dim(1), section_.jorge.block_size);
  const Shape like = parameter.master.shape();
  Matrix matrix{&parameter, blocks, {}, {}, {}, {}, {}};
  matrix.left = add_state("left", parameter, {blocks.count(), blocks.row_size, blocks.row_size});
  matrix.right = add_state("right", parameter, {blocks.count(), blocks.column_size, blocks.column_size});
  matrix.momentum = as_matrix(add_state("momentum", parameter, like), parameter.spec);
  matrix.graft_m = as_matrix(add_state("graft_m", parameter, like), parameter.spec);
  if (section_.jorge.graft == "adam")
    matrix.graft_v = as_matrix(add_state("graft_v", parameter, like), parameter.spec);
  for (int64_t b = 0; b < blocks.count(); ++b) {
    const View block = blocks.of(weight, b);
    jorge_start(ops_, factor_of(matrix.left, b, block.dim(0)), section_.jorge.eps);
    jorge_start(ops_, factor_of(matrix.right, b, block.dim(1)), section_.jorge.eps);
  }
  matrices_.push_back(matrix);
}

View Jorge::add_state(const std::string& kind, const Parameter& parameter, const Shape& shape) {
  Tensor value(ops_.device(), DType::f32, shape);
  ops_.fill(value, 0.0f);
  const bool like = shape == parameter.master.shape();
  Slab whole{shape, shape};
  for (int i = 0; i < shape.rank(); ++i) whole.offset[i] = 0;
  state_.push_back({fmt::format("optimizer/jorge_{}/{}", kind, parameter.spec.name),
                    like ? parameter.spec.shape : shape, like ? parameter.spec.shard : ShardRule{},
                    like ? parameter.slab : whole, value});
  return value.view();
}

View Jorge::scratch(int index, int64_t rows, int64_t columns) {
  Tensor& held = scratch_[index];
  const int64_t n = rows * columns;
  if (!held.defined() || held.numel() < n) held = Tensor(ops_.device(), DType::f32, {n});
  return held.view().slice(0, 0, n).reshape({rows, columns});
}

void Jorge::apply(int64_t update, double lr, double gradient_scale) {
  rest_.apply(update, adamw_rate(section_, lr), gradient_scale);
  const auto form = section_.jorge.form == "published" ? JorgeForm::published : JorgeForm::symmetric;
  const bool refresh = (update - 1) % section_.jorge.refresh_every == 0;
  for (const Matrix& matrix : matrices_) {
    Parameter& p = *matrix.parameter;
    const View gradient = as_matrix(grad_to_add(ops_, p), p.spec), weight = as_matrix(p.master, p.spec);
    for (int64_t b = 0; refresh && b < matrix.blocks.count(); ++b) {
      const View g = matrix.blocks.of(gradient, b);
      jorge_refresh(ops_, workspace_, factor_of(matrix.left, b, g.dim(0)), g, JorgeSide::left, form);
      jorge_refresh(ops_, workspace_, factor_of(matrix.right, b, g.dim(1)), g, JorgeSide::right, form);
    }
    precondition(matrix, gradient, gradient_scale);
    const double graft = graft_norm(matrix, gradient, update, gradient_scale);
    const double norm = std::sqrt(ops_.sum_squares(matrix.momentum));
    const double decay = decays(section_, p.spec) ? section_.weight_decay : 0.0;
    const double size = norm > 0 ? graft / norm : 0.0;
    ops_.axpby(static_cast<float>(-lr * size), matrix.momentum, static_cast<float>(1 - lr * decay), weight);
    update_compute_copy(p, ops_);
  }
}

// momentum = b1 momentum + (1 - b1) L G R, block by block.
void Jorge::precondition(const Matrix& matrix, const View& gradient, double gradient_scale) {
  const double b1 = section_.momentum;
  for (int64_t b = 0; b < matrix.blocks.count(); ++b) {
    const View g = matrix.blocks.of(gradient, b), m = matrix.blocks.of(matrix.momentum, b);
    const View left = scratch(0, g.dim(0), g.dim(1)), both = scratch(1, g.dim(0), g.dim(1));
    ops_.matmul({.a = factor_of(matrix.left, b, g.dim(0)), .b = g, .c = left, .bias = {}});
    ops_.matmul({.a = left, .b = factor_of(matrix.right, b, g.dim(1)), .c = both, .bias = {}});
    ops_.axpby(static_cast<float>((1 - b1) * gradient_scale), both, static_cast<float>(b1), m);
  }
}

double Jorge::graft_norm(const Matrix& matrix, const View& gradient, int64_t update, double gradient_scale) {
  if (section_.jorge.graft == "sgd") {
    ops_.axpby(static_cast<float>(gradient_scale), gradient, static_cast<float>(section_.momentum),
               matrix.graft_m);
    return std::sqrt(ops_.sum_squares(matrix.graft_m));
  }
  // AdamW's step with rate 1 from a weight of zero is minus Adam's update.
  const View step = scratch(0, gradient.dim(0), gradient.dim(1));
  ops_.fill(step, 0.0f);
  AdamwArgs args{.param = flat(step),
                 .grad = flat(gradient),
                 .m = flat(matrix.graft_m),
                 .v = flat(matrix.graft_v),
                 .copy = {}};
  args.lr = 1;
  args.beta1 = section_.betas[0];
  args.beta2 = section_.betas[1];
  args.eps = section_.eps;
  args.gradient_scale = gradient_scale;
  args.correction1 = 1.0 - std::pow(args.beta1, double(update));
  args.correction2 = 1.0 - std::pow(args.beta2, double(update));
  ops_.adamw(args);
  return std::sqrt(ops_.sum_squares(step));
}

std::string Jorge::describe() const {
  int64_t blocks = 0;
  for (const Matrix& matrix : matrices_) blocks += matrix.blocks.count();
  return fmt::format(
      "jorge: {} matrices in {} blocks of at most {}, refreshed every {} updates, {} grafting; the rest {}",
      matrices_.size(), blocks, section_.jorge.block_size, section_.jorge.refresh_every, section_.jorge.graft,
      rest_.describe());
}

}  // namespace shoal
