// Muon (Jordan et al. 2024): the momentum of each matrix is made nearly orthogonal by five Newton-Schulz
// steps before it is applied. Vocabulary matrices, norm weights and biases are AdamW's.
//   s <- b s + g;  u = g + b s;  W <- (1 - lr wd) W - lr * 0.2 sqrt(max(rows, columns)) * orthogonal(u)
// The factor gives the update the size of AdamW's, so that the learning rate and the weight decay of an AdamW
// run can be kept (Liu et al. 2025, arXiv 2502.16982).
#pragma once

#include <string>
#include <vector>

#include "optim/adamw.h"
#include "optim/optimizer.h"

namespace shoal {

// Replaces x [rows, columns] f32 by an approximation of the orthogonal factor U V^T of its singular value
// decomposition: x / |x|, then five steps X <- a X + (b A + c A^2) X, A = X X^T (or from the other side,
// whichever is smaller), a = 3.4445, b = -4.7750, c = 2.0315. Singular values end between about 0.7 and 1.2.
void orthogonalize(Ops& ops, const View& x);

class Muon final : public Optimizer {
 public:
  Muon(const OptimizerSection& section, const std::vector<Parameter*>& parameters, Ops& ops);

  void apply(int64_t update, double lr, double gradient_scale) override;
  std::vector<OptimizerTensor>& state() override { return state_; }
  std::string describe() const override;

 private:
  OptimizerSection section_;
  Ops& ops_;
  AdamW rest_;
  std::vector<Parameter*> matrices_;
  std::vector<OptimizerTensor>
      state_;  // "optimizer/momentum/<parameter>", in the order of matrices_, then AdamW's
};

}  // namespace shoal
