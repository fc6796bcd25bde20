// AdamW: Adam with decoupled weight decay and bias correction (Loshchilov and Hutter 2019; ops.h has the
// formula).
#pragma once

#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace shoal {

// State: first and second moments, "optimizer/m/<parameter>" and "optimizer/v/<parameter>".
class AdamW final : public Optimizer {
 public:
  // For these parameters, which must outlive it.
  AdamW(const OptimizerSection& section, std::vector<Parameter*> parameters, Ops& ops);

  void apply(int64_t update, double lr, double gradient_scale) override;
  std::vector<OptimizerTensor>& state() override { return state_; }
  std::string describe() const override;

 private:
  OptimizerSection section_;
  std::vector<Parameter*> parameters_;
  Ops& ops_;
  std::vector<OptimizerTensor> state_;  // m and v of each parameter, in their order
};

}  // namespace shoal
