// The output projection fused with the softmax cross-entropy: a chunk of rows at a time, so that the logits
// of all tokens are never held. The divisor of the loss is known beforehand, so the forward pass leaves the
// gradients too.
#pragma once

#include <cstdint>

#include "layers/context.h"
#include "layers/parameter.h"
#include "layers/tape.h"

namespace shoal {

// Sums over the tokens of one or more micro-batches.
struct LossSums {
  double kept = 0, dropped = 0;  // cross-entropy in nats over targets of weight 1, and of weight 0
  double z = 0;                  // squared log of the softmax denominator, over kept targets
  int64_t kept_tokens = 0, dropped_tokens = 0;

  LossSums& operator+=(const LossSums& other);
  double kept_loss() const;  // means; 0 for no tokens
  double dropped_loss() const;
  double plain_loss() const;  // over all targets
};

// What the M rows should have predicted, in host memory.
struct Targets {
  const int32_t* tokens = nullptr;  // [M]; negative: ignored
  const float* weights = nullptr;   // [M], 1 or 0 (dropped); null: all 1
};

// Ranks of x and y share the work: x cuts the vocabulary, y the rows of a chunk. For a chunk of C rows
//
//   partial logits [C, V / x] = rows [C, H / y] W^T, summed over y and scattered: [C / y, V / x] in f32
//   softmax statistics of V / x columns, combined over the ranks of x
//   dlogits [C / y, V / x], gathered over y: [C, V / x]; then dx partial [C, H / y] and dW, both local
//
// and dx of all rows is summed over x and scattered: [M / x, H / y].
class LossHead {
 public:
  struct Options {
    double z_loss = 0;
    int64_t chunk = 0;  // rows; 0: chosen by size
  };
  LossHead(ParameterRegistry& registry, Parameter& weight, const Options& options)
      : registry_(registry), weight_(weight), options_(options) {}

  // x [M / x rows, H / y]; targets are those of all M rows, and so are the sums that every rank of x and y
  // returns. Adds the gradient of sum(kept cross-entropy + z_loss lse^2) / divisor to the weight's, and
  // leaves it in x.grad.
  LossSums train(Context& context, const Var& x, const Targets& targets, double divisor) const;
  // Without gradients. token_losses [M], if not null, gets the cross-entropy of each target, 0 where ignored.
  LossSums evaluate(Context& context, const Tensor& x, const Targets& targets, float* token_losses) const;
  // logits [M, V] f32 = x W^T, where x and y are 1.
  void logits(Context& context, const View& x, const View& logits) const;

 private:
  int64_t chunk_rows(const Context& context, int64_t rows) const;

  ParameterRegistry& registry_;
  Parameter& weight_;
  Options options_;
};

}  // namespace shoal
