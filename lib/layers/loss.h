// The output projection fused with the softmax cross-entropy: a chunk of rows at a time, so that the logits of all
// tokens are never held. The divisor of the loss is known beforehand, so the forward pass leaves the gradients too.
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
  double kept_loss() const;     // means; 0 for no tokens
  double dropped_loss() const;
  double plain_loss() const;    // over all targets
};

}  // namespace shoal
