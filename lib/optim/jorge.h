// Jorge (Singh et al. 2023, arXiv 2310.12298): Shampoo's preconditioning without ever inverting a matrix.
//
// For each block G of a weight matrix, with factors L and R refreshed every few updates (jorge_factor.h):
//   m <- b1 m + (1 - b1) L G R
//   W <- (1 - lr wd) W - lr (|s| / |m|) m
// where s is the step of the grafted optimizer, whose size is taken and whose direction is not: SGD's
// momentum s <- b1 s + G, or Adam's update. Norms are over the whole matrix. Vocabulary matrices, norm
// weights and biases are AdamW's.
#pragma once

#include <string>
#include <vector>

#include "optim/adamw.h"
#include "optim/blocks.h"
#include "optim/jorge_factor.h"
#include "optim/optimizer.h"

namespace shoal {

class Jorge final : public Optimizer {
 public:
  Jorge(const OptimizerSection& section, const std::vector<Parameter*>& parameters, Ops& ops);

  void apply(int64_t update, double lr, double gradient_scale) override;
  std::vector<OptimizerTensor>& state() override { return state_; }
  std::string describe() const override;

 private:
  struct Matrix {
    Parameter* parameter;
    MatrixBlocks blocks;
    View left, right;       // [blocks, n, n]
    View momentum;          // [rows, columns]
    View graft_m, graft_v;  // Adam's moments, or SGD's momentum alone
  };
  void add(Parameter& parameter);
  View add_state(const std::string& kind, const Parameter& parameter, const Shape& shape);
  void precondition(const Matrix& matrix, const View& gradient, double gradient_scale);
  double graft_norm(const Matrix& matrix, const View& gradient, int64_t update, double gradient_scale);
  View scratch(int index, int64_t rows, int64_t columns);

  OptimizerSection section_;
  Ops& ops_;
  AdamW rest_;  // what is no matrix
  JorgeWorkspace workspace_;
  std::vector<OptimizerTensor> state_;
  std::vector<Matrix> matrices_;
  Tensor scratch_[2];
};

}  // namespace shoal
