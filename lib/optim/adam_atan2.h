// Adam with an arctangent in place of the division (Everett et al. 2024, arXiv 2407.05872) and clipped
// updates, as the recurrent-depth model of Geiping et al. 2025 (arXiv 2502.05171) was trained:
//   m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2, m and v of the first update starting at g and g^2;
//   r = RMS over the tensor of g / sqrt(max(v, eps^2));
//   p <- (1 - lr wd) p - lr / ((1 - b1^t) max(1, r)) atan2(m, sqrt(v / (1 - b2^t)))
// Because the moments start at the gradient, the bias corrections make the first steps larger, by 1 / (1 -
// b1) at the first; that is how it is published. Published: lr 4e-5, betas 0.9 and 0.95, and a decay of 4e-5
// a step at the peak, which is weight_decay 1 here.
#pragma once

#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace shoal {

class AdamAtan2 final : public Optimizer {
 public:
  // The context must outlive it.
  AdamAtan2(const OptimizerSection& section, std::vector<Parameter*> parameters, const Context& context);

  void apply(int64_t update, double lr, double gradient_scale) override;
  std::vector<OptimizerTensor>& state() override { return state_; }
  std::string describe() const override;

 private:
  AdamwArgs arguments(size_t i, int64_t update, double gradient_scale);

  OptimizerSection section_;
  std::vector<Parameter*> parameters_;
  Ops& ops_;
  const Context& context_;
  std::vector<OptimizerTensor> state_;  // "optimizer/m/<parameter>", "optimizer/v/<parameter>", in turn
};

}  // namespace shoal
