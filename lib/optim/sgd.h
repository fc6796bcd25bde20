// SGD with momentum and decoupled weight decay: s <- b s + g;  p <- (1 - lr wd) p - lr s (Sutskever et al.
// 2013, in PyTorch's form, without dampening).
#pragma once

#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace shoal {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerSection& section, std::vector<Parameter*> parameters, Ops& ops);

  void apply(int64_t update, double lr, double gradient_scale) override;
  std::vector<OptimizerTensor>& state() override { return state_; }
  std::string describe() const override;

 private:
  OptimizerSection section_;
  std::vector<Parameter*> parameters_;
  Ops& ops_;
  std::vector<OptimizerTensor> state_;  // "optimizer/momentum/<parameter>"
};

}  // namespace shoal
