#include "layers/loss.h"

#include <algorithm>

#include "layers/chunk_loss.h"
#include "layers/gradients.h"
#include "layers/rows.h"
#include "layers/weights.h"

namespace shoal {
namespace {

const std::string name = "head";

double mean(double sum, int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

Targets offset(const Targets& targets, int64_t begin) {
  return {targets.tokens + begin, targets.weights == nullptr ? nullptr : targets.weights + begin};
}

// Chunk after chunk of logits, and whose rows of them are this rank's.
class Logits {
 public:
  Logits(Context& context, const Parameter& weight, const WeightBlock& block, int64_t rows)
      : context_(context),
        block_(block),
        vocabulary_(weight.slab.shape[0]),
        y_ranks_(context.size(Axis::y)),
        memory_(context.device, DType::f32, {rows, vocabulary_}) {
    if (y_ranks_ > 1) share_ = Tensor(context.device, DType::f32, {rows / y_ranks_, vocabulary_});
  }

  // Of x [C, H / y]: this rank's [C / y, V / x].
  View compute(const View& x) {
    const View all = memory_.view().slice(0, 0, x.dim(0));
    MatmulArgs args{.a = x, .b = block_.matrix(vocabulary_), .c = all, .transpose_b = true, .bias = {}};
    args.b_is_weight = true;
    args.b_is_passing = block_.passing;
    context_.ops.matmul(args);
    if (y_ranks_ == 1) return all;
    const View share = share_.view().slice(0, 0, x.dim(0) / y_ranks_);
    context_.comm(Axis::y).reduce_scatter(all, share, Reduce::sum, half_of_all_reduce(Axis::y, name)).wait();
    return share;
  }

  // Where the gradient of `rows` rows goes, in the memory of the logits: where there is nothing to exchange,
  // each row begins where that row of the logits does.
  View gradient(int64_t rows, DType dtype) const {
    const int64_t stride = y_ranks_ == 1 ? vocabulary_ * size_of(DType::f32) / size_of(dtype) : vocabulary_;
    return View(memory_.view().data, dtype, {rows, vocabulary_}, {stride, 1});
  }
  // The part of a gradient that this rank computes.
  View share_of(const View& gradient) const {
    const int64_t rows = gradient.dim(0) / y_ranks_;
    return gradient.slice(0, context_.at[Axis::y] * rows, rows);
  }
  void gather(const View& gradient) const {
    if (y_ranks_ == 1) return;
    context_.comm(Axis::y).all_gather(share_of(gradient), gradient, half_of_all_reduce(Axis::y, name)).wait();
  }
  // This rank's first row of a chunk.
  int64_t first_row(int64_t rows) const { return context_.at[Axis::y] * (rows / y_ranks_); }

 private:
  Context& context_;
  const WeightBlock& block_;
  int64_t vocabulary_, y_ranks_;
  Tensor memory_, share_;
};

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

int64_t LossHead::chunk_rows(const Context& context, int64_t rows) const {
  const int64_t y = context.size(Axis::y);
  const auto whole_shares = [&](int64_t n) { return std::min(rows, (n + y - 1) / y * y); };
  if (options_.chunk > 0) return whole_shares(options_.chunk);
  // Even chunks of few enough rows that the logits are a small part of the memory, enough of them that the
  // products stay large and the weight's gradient is not read and written too often. The same on every rank,
  // though the vocabulary may not divide.
  constexpr int64_t logits_bytes = int64_t{80} << 20;
  const int64_t columns = part_of(weight_.spec.shape[0], context.size(Axis::x), 0).count;
  const int64_t fit = std::max(logits_bytes / (columns * size_of(DType::f32)), int64_t{256});
  const int64_t chunks = (rows + fit - 1) / fit;
  return whole_shares(((rows + chunks - 1) / chunks + 15) / 16 * 16);
}

void LossHead::logits(Context& context, const View& x, const View& logits) const {
  const WeightBlock block = registry_.weights().use(weight_);
  MatmulArgs args{.a = x, .b = block.value, .c = logits, .transpose_b = true, .bias = {}};
  args.b_is_weight = true;
  args.b_is_passing = block.passing;
  context.ops.matmul(args);
}

LossSums LossHead::evaluate(Context& context, const Tensor& x, const Targets& targets,
                            float* token_losses) const {
  const Tensor all = gather_rows(context, x, Axis::x, half_of_all_reduce(Axis::x, name)).get();
  const int64_t M = all.dim(0), C = chunk_rows(context, M);
  const WeightBlock block = registry_.weights().use(weight_);
  Logits logits(context, weight_, block, C);
  ChunkLoss chunk(context, C / context.size(Axis::y), weight_.slab.offset[0]);
  if (token_losses != nullptr) std::fill_n(token_losses, M, 0.0f);
  LossSums sums;
  for (int64_t begin = 0; begin < M; begin += C) {
    const int64_t count = std::min(C, M - begin), mine = begin + logits.first_row(count);
    chunk.read(logits.compute(all.view().slice(0, begin, count)), offset(targets, mine), sums,
               token_losses == nullptr ? nullptr : token_losses + mine);
  }
  if (token_losses != nullptr) sum_over_rows(context, token_losses, M);
  return sum_over_rows(context, sums);
}

LossSums LossHead::train(Context& context, const Var& x, const Targets& targets, double divisor) const {
  const Tensor all = gather_rows(context, x.value, Axis::x, half_of_all_reduce(Axis::x, name)).get();
  const int64_t M = all.dim(0), C = chunk_rows(context, M);
  const WeightBlock block = registry_.weights().use(weight_);
  Logits logits(context, weight_, block, C);
  ChunkLoss chunk(context, C / context.size(Axis::y), weight_.slab.offset[0]);
  const Tensor dx(context.device, all.dtype(), all.shape());
  LossSums sums;
  for (int64_t begin = 0; begin < M; begin += C) {
    const int64_t count = std::min(C, M - begin);
    const View part = all.view().slice(0, begin, count);
    const Targets mine = offset(targets, begin + logits.first_row(count));
    const View share = logits.compute(part);
    chunk.read(share, mine, sums, nullptr);
    const View dlogits = logits.gradient(count, all.dtype());
    chunk.gradient(share, mine, 1.0 / divisor, options_.z_loss, logits.share_of(dlogits));
    logits.gather(dlogits);

    MatmulArgs input{.a = dlogits, .b = block.value, .c = dx.view().slice(0, begin, count), .bias = {}};
    input.b_is_weight = true;
    input.b_is_passing = block.passing;
    context.ops.matmul(input);
    MatmulArgs dweight{.a = dlogits, .b = part, .c = {}, .transpose_a = true, .bias = {}};
    const Tensor gradient = registry_.gradients().to_write(weight_, dweight.accumulate);
    dweight.c = gradient;
    context.ops.matmul(dweight);
  }
  registry_.gradients().written(weight_);
  *x.grad = scatter_rows(context, dx, Axis::x, half_of_all_reduce(Axis::x, name)).get();
  return sum_over_rows(context, sums);
}

}  // namespace shoal
