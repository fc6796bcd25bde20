// One transformer layer.
#pragma once

#include "layers/attention.h"
#include "layers/mlp.h"
#include "layers/norm.h"

namespace shoal {

// Sequential: h = x + attention(norm1 x); y = h + mlp(norm2 h).
// Parallel (Wang and Komatsuzaki 2021): y = x + attention(norm1 x) + mlp(norm2 x).
class Block {
 public:
  Block(ParameterRegistry& registry, const Attention::Spec& attention, const Mlp::Spec& mlp,
        const Norm::Spec& norm1, const Norm::Spec& norm2, bool parallel);

  // recompute: keep only the sum that enters, and run attention and mlp again in backward.
  Residual forward(Context& context, Tape& tape, const Residual& in, const Positions& positions,
                   bool recompute) const;

 private:
  std::vector<Var> body(Context& context, Tape& tape, const std::vector<Var>& in,
                        const Positions& positions) const;

  bool parallel_;
  Norm norm1_;
  Attention attention_;
  Norm norm2_;
  Mlp mlp_;
};

}  // namespace shoal
