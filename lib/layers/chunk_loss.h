// The loss of a chunk of logits whose columns x may cut, and sums over the rows that y cuts.
#pragma once

#include <vector>

#include "layers/context.h"
#include "layers/loss.h"

namespace shoal {

// The statistics of a chunk's softmax on the device, and what is made of them on the host.
class ChunkLoss {
 public:
  // For up to `rows` rows whose columns begin with token `first_column`.
  ChunkLoss(Context& context, int64_t rows, int64_t first_column);

  // Reads the statistics of logits [C, V / x], combines them over x and adds to the sums. token_losses [C]
  // may be null.
  void read(const View& logits, const Targets& targets, LossSums& sums, float* token_losses);
  // After read: the gradient of the kept losses times scale.
  void gradient(const View& logits, const Targets& targets, double scale, double z_loss, const View& dlogits);

 private:
  void combine();
  float& at(int64_t i) { return host_[static_cast<size_t>(i)]; }
  // The first rows_ elements of a row of the statistics of this rank's columns.
  View row(int64_t index) const;
  View targets() const { return View(targets_.view().data, DType::i32, {rows_}); }

  Context& context_;
  int64_t first_column_, capacity_, rows_ = 0;
  Tensor targets_;
  Tensor statistics_;  // [x ranks, 3, capacity]: maximum, sum of exponentials, logit of the target
  std::vector<float> host_;
};

// The sums over all rows where each rank of y has some of them. Values [M]: zeros where the rank has none.
LossSums sum_over_rows(Context& context, const LossSums& sums);
void sum_over_rows(Context& context, float* values, int64_t count);

}  // namespace shoal
