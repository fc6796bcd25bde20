#include "layers/loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace shoal {
namespace {

double mean(double sum, int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

// The statistics of a chunk's softmax on the device, and what is made of them on the host.
class ChunkLoss {
 public:
  ChunkLoss(Context& context, int64_t rows)
      : context_(context),
        targets_(context.device, DType::i32, {rows}),
        statistics_(context.device, DType::f32, {3, rows}),
        host_(static_cast<size_t>(3 * rows)) {}

  // Reads the statistics of logits [C, V] and adds to the sums. token_losses [C] may be null.
  void read(const View& logits, const Targets& targets, LossSums& sums, float* token_losses) {
    rows_ = logits.dim(0);
    context_.device.to_device(targets_.view().data, targets.tokens, rows_ * size_of(DType::i32));
    context_.ops.softmax_stats({.logits = logits,
                                .targets = row(targets_.view().reshape({1, targets_.numel()}), 0),
                                .maximum = row(statistics_, 0),
                                .sum_exp = row(statistics_, 1),
                                .target_logit = row(statistics_, 2)});
    context_.device.to_host(host_.data(), statistics_.view().data, statistics_.view().bytes());

    const int64_t stride = statistics_.dim(1);
    for (int64_t i = 0; i < rows_; ++i) {
      float& maximum = at(i);  // becomes lse
      maximum = static_cast<float>(maximum + std::log(static_cast<double>(at(stride + i))));
      const bool ignored = targets.tokens[i] < 0;
      const double loss = ignored ? 0.0 : static_cast<double>(maximum) - at(2 * stride + i);
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

  // After read: the gradient of the kept losses times scale.
  void gradient(const View& logits, const Targets& targets, double scale, double z_loss,
                const View& dlogits) {
    const int64_t stride = statistics_.dim(1);
    for (int64_t i = 0; i < rows_; ++i) {
      const bool counts = targets.tokens[i] >= 0 && kept(targets, i);
      at(stride + i) = static_cast<float>(counts ? scale : 0.0);
      at(2 * stride + i) = static_cast<float>(counts ? scale * z_loss : 0.0);
    }
    context_.device.to_device(statistics_.view().data, host_.data(), statistics_.view().bytes());
    context_.ops.softmax_grad({.logits = logits,
                               .targets = row(targets_.view().reshape({1, targets_.numel()}), 0),
                               .lse = row(statistics_, 0),
                               .weight = row(statistics_, 1),
                               .z_weight = z_loss != 0 ? row(statistics_, 2) : View(),
                               .dlogits = dlogits});
  }

 private:
  static bool kept(const Targets& targets, int64_t i) {
    return targets.weights == nullptr || targets.weights[i] != 0;
  }
  float& at(int64_t i) { return host_[static_cast<size_t>(i)]; }
  // The first rows_ elements of a row.
  View row(const View& matrix, int64_t index) const {
    const View part = matrix.slice(0, index, 1).slice(1, 0, rows_);
    return View(part.data, part.dtype, {rows_});
  }

  Context& context_;
  Tensor targets_, statistics_;
  std::vector<float> host_;
  int64_t rows_ = 0;
};

Targets offset(const Targets& targets, int64_t begin) {
  return {targets.tokens + begin, targets.weights == nullptr ? nullptr : targets.weights + begin};
}

}  // namespace

LossSums& LossSums::operator+=(const LossSums& other) {
  kept += other.kept;
  dropped += other.dropped;
  z += other.z;
  kept_tokens += other.kept_tokens;
  dropped_tokens += other.dropped_tokens;
  return *this;
}

double LossSums::kept_loss() const {
  return mean(kept, kept_tokens);
}
double LossSums::dropped_loss() const {
  return mean(dropped, dropped_tokens);
}
double LossSums::plain_loss() const {
  return mean(kept + dropped, kept_tokens + dropped_tokens);
}

int64_t LossHead::chunk_rows(int64_t rows) const {
  if (options_.chunk > 0) return std::min(options_.chunk, rows);
  // Even chunks of few enough rows that the logits are a small part of the memory, enough of them that the
  // products stay large and the weight's gradient is not read and written too often.
  constexpr int64_t logits_bytes = int64_t{80} << 20;
  const int64_t fit = std::max(logits_bytes / (weight_.slab.shape[0] * size_of(DType::f32)), int64_t{256});
  const int64_t chunks = (rows + fit - 1) / fit;
  return std::min(rows, ((rows + chunks - 1) / chunks + 15) / 16 * 16);
}

void LossHead::logits(Context& context, const View& x, const View& logits) const {
  MatmulArgs args{.a = x, .b = weight_.compute, .c = logits, .transpose_b = true, .bias = {}};
  args.b_is_weight = true;
  context.ops.matmul(args);
}

LossSums LossHead::evaluate(Context& context, const View& x, const Targets& targets,
                            float* token_losses) const {
  const int64_t M = x.dim(0), C = chunk_rows(M);
  Tensor logits_memory(context.device, DType::f32, {C, weight_.slab.shape[0]});
  ChunkLoss chunk(context, C);
  LossSums sums;
  for (int64_t begin = 0; begin < M; begin += C) {
    const int64_t count = std::min(C, M - begin);
    const View chunk_logits = logits_memory.view().slice(0, 0, count);
    logits(context, x.slice(0, begin, count), chunk_logits);
    chunk.read(chunk_logits, offset(targets, begin), sums,
               token_losses == nullptr ? nullptr : token_losses + begin);
  }
  return sums;
}

LossSums LossHead::train(Context& context, const Var& x, const Targets& targets, double divisor) const {
  const View& rows = x.value;
  const int64_t M = rows.dim(0), V = weight_.slab.shape[0], C = chunk_rows(M);
  Tensor logits_memory(context.device, DType::f32, {C, V});
  // In the compute type, each row where that row of the logits was.
  const View all_dlogits(logits_memory.view().data, rows.dtype, {C, V},
                         {V * size_of(DType::f32) / size_of(rows.dtype), 1});
  *x.grad = Tensor(context.device, rows.dtype, rows.shape);
  ChunkLoss chunk(context, C);
  LossSums sums;
  for (int64_t begin = 0; begin < M; begin += C) {
    const int64_t count = std::min(C, M - begin);
    const View part = rows.slice(0, begin, count);
    const View chunk_logits = logits_memory.view().slice(0, 0, count);
    const View dlogits = all_dlogits.slice(0, 0, count);
    logits(context, part, chunk_logits);
    chunk.read(chunk_logits, offset(targets, begin), sums, nullptr);
    chunk.gradient(chunk_logits, offset(targets, begin), 1.0 / divisor, options_.z_loss, dlogits);

    MatmulArgs dx{.a = dlogits, .b = weight_.compute, .c = x.grad->view().slice(0, begin, count), .bias = {}};
    dx.b_is_weight = true;
    context.ops.matmul(dx);
    MatmulArgs dweight{.a = dlogits, .b = part, .c = {}, .transpose_a = true, .bias = {}};
    dweight.c = grad_to_write(context.ops, weight_, dweight.accumulate);
    context.ops.matmul(dweight);
  }
  return sums;
}

}  // namespace shoal
