#include "layers/chunk_loss.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shoal {
namespace {

bool kept(const Targets& targets, int64_t i) {
  return targets.weights == nullptr || targets.weights[i] != 0;
}

}  // namespace

ChunkLoss::ChunkLoss(Context& context, int64_t rows, int64_t first_column)
    : context_(context),
      first_column_(first_column),
      capacity_(rows),
      targets_(context.device, DType::i32, {rows}),
      statistics_(context.device, DType::f32, {context.size(Axis::x), 3, rows}),
      host_(static_cast<size_t>(statistics_.numel())) {}

View ChunkLoss::row(int64_t index) const {
  const int64_t begin = (3 * context_.at[Axis::x] + index) * capacity_;
  return statistics_.part(begin, {rows_});
}

void ChunkLoss::read(const View& logits, const Targets& targets, LossSums& sums, float* token_losses) {
  rows_ = logits.dim(0);
  context_.device.to_device(targets_.view().data, targets.tokens, rows_ * size_of(DType::i32));
  context_.ops.softmax_stats({.logits = logits,
                              .targets = this->targets(),
                              .maximum = row(0),
                              .sum_exp = row(1),
                              .target_logit = row(2),
                              .first_column = first_column_});
  combine();
  for (int64_t i = 0; i < rows_; ++i) {
    float& maximum = at(i);  // becomes lse
    maximum = static_cast<float>(maximum + std::log(static_cast<double>(at(capacity_ + i))));
    const bool ignored = targets.tokens[i] < 0;
    const double loss = ignored ? 0.0 : static_cast<double>(maximum) - at(2 * capacity_ + i);
    if (token_losses != nullptr) token_losses[i] = static_cast<float>(loss);
    if (ignored) continue;
    if (kept(targets, i)) {
      sums.kept += loss;
      sums.z += static_cast<double>(maximum) * maximum;
      ++sums.kept_tokens;
    } else {
      sums.dropped += loss;
      ++sums.dropped_tokens;
    }
  }
}

// Into the place of the first rank's statistics on the host.
void ChunkLoss::combine() {
  const int64_t ranks = context_.size(Axis::x);
  if (ranks > 1) {
    const Tensor mine = statistics_.part(3 * context_.at[Axis::x] * capacity_, {3 * capacity_});
    context_.comm(Axis::x).all_gather(mine, statistics_, "AG_x softmax statistics").wait();
  }
  context_.device.to_host(host_.data(), statistics_.view().data, statistics_.view().bytes());
  for (int64_t i = 0; ranks > 1 && i < rows_; ++i) {
    float maximum = at(i), target = 0;
    for (int64_t r = 1; r < ranks; ++r) maximum = std::max(maximum, at(3 * r * capacity_ + i));
    double sum = 0;
    for (int64_t r = 0; r < ranks; ++r) {
      const int64_t part = 3 * r * capacity_ + i;
      sum += double(at(part + capacity_)) * std::exp(double(at(part)) - double(maximum));
      target += at(part + 2 * capacity_);
    }
    at(i) = maximum;
    at(capacity_ + i) = static_cast<float>(sum);
    at(2 * capacity_ + i) = target;
  }
}

void ChunkLoss::gradient(const View& logits, const Targets& targets, double scale, double z_loss,
                         const View& dlogits) {
  for (int64_t i = 0; i < rows_; ++i) {
    const bool counts = targets.tokens[i] >= 0 && kept(targets, i);
    at(capacity_ + i) = static_cast<float>(counts ? scale : 0.0);
    at(2 * capacity_ + i) = static_cast<float>(counts ? scale * z_loss : 0.0);
  }
  for (int64_t k = 0; k < 3; ++k) {
    context_.device.to_device(row(k).data, host_.data() + k * capacity_, rows_ * size_of(DType::f32));
  }
  context_.ops.softmax_grad({.logits = logits,
                             .targets = this->targets(),
                             .lse = row(0),
                             .weight = row(1),
                             .z_weight = z_loss != 0 ? row(2) : View(),
                             .dlogits = dlogits,
                             .first_column = first_column_});
}

LossSums sum_over_rows(Context& context, const LossSums& sums) {
  if (context.size(Axis::y) == 1) return sums;
  std::array<double, 5> values{sums.kept, sums.dropped, sums.z, double(sums.kept_tokens),
                               double(sums.dropped_tokens)};
  const Tensor all(context.device, DType::f64, {5});
  context.device.to_device(all.view().data, values.data(), all.view().bytes());
  context.comm(Axis::y).all_reduce(all, Reduce::sum, "AR_y loss").wait();
  context.device.to_host(values.data(), all.view().data, all.view().bytes());
  return {values[0], values[1], values[2], int64_t(values[3]), int64_t(values[4])};
}

void sum_over_rows(Context& context, float* values, int64_t count) {
  if (context.size(Axis::y) == 1) return;
  const Tensor all(context.device, DType::f32, {count});
  context.device.to_device(all.view().data, values, all.view().bytes());
  context.comm(Axis::y).all_reduce(all, Reduce::sum, "AR_y token losses").wait();
  context.device.to_host(values, all.view().data, all.view().bytes());
}

}  // namespace shoal
