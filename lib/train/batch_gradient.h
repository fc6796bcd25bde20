// Forward and backward of a global batch, of which each replica has its rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "model/decoder.h"
#include "train/gradient_sum.h"
#include "train/runtime.h"

namespace shoal {

class BatchGradient {
 public:
  BatchGradient(Decoder& model, Context& context, Communicator& replicas, const RunSpec& spec);

  // rows: this replica's, pass by pass, `kept` of whose targets count. Leaves the gradient of the mean over
  // the whole batch's kept targets, and returns the sums over the whole batch. Collective.
  LossSums compute(const Batch& rows, int64_t kept);
  double norm() { return sum_->norm(); }

 private:
  Decoder& model_;
  Communicator& replicas_;
  int64_t micro_;
  std::unique_ptr<GradientSum> sum_;
};

// Adds up the sums of passes in the order of the global batch, pass by pass and within one replica by
// replica: the same on every grid. Every replica gives as many.
LossSums sum_in_order(const std::vector<LossSums>& passes, Communicator& replicas);

}  // namespace shoal
