// The residual stream and the norms that read it.
#pragma once

#include <string>
#include <vector>

#include "layers/context.h"
#include "layers/parameter.h"
#include "layers/tape.h"

namespace shoal {

// The residual stream between layers, [M / x rows, H / y] each on a rank. Its value is stream + pending: the
// sum is left to the norm that reads it next, which does it in the same pass. pending is undefined before the
// first layer.
struct Residual {
  Var stream, pending;
};

// LayerNorm or RMSNorm parameters. Where y cuts the features, its ranks exchange two statistics a row,
// forward and backward.
class Norm {
 public:
  struct Spec {
    std::string name;
    int64_t size = 0;
    bool rms = false, bias = false, unit_offset = false;
    float eps = 1e-5f;
  };
  Norm(ParameterRegistry& registry, const Spec& spec);

  // args needs x (and residual, sum), y, mean and rstd.
  void forward(Context& context, NormArgs args) const;
  // The same again, with x the sum, and mean and rstd known: nothing is exchanged.
  void again(Context& context, NormArgs args) const;
  // args needs x, mean, rstd, dy, dx and accumulate_dx.
  void backward(Context& context, NormGradArgs args) const;
  bool rms() const { return spec_.rms; }

 private:
  void forward_split(Context& context, NormArgs args) const;
  void backward_split(Context& context, NormGradArgs args) const;
  void set_parameters(NormArgs& args) const;

  ParameterRegistry& registry_;
  Spec spec_;
  Parameter& weight_;
  Parameter* bias_ = nullptr;
};

struct Normed {
  Var stream;             // stream + pending
  std::vector<Var> outs;  // one a norm; computed again in backward instead of kept
};

// Adds what is pending to the stream and applies each norm to the sum. Everything that reads the outputs must
// be done with its backward before this one's runs, which the order of the tape ensures: the gradient of the
// stream is then shared, not copied, by stream and pending, and added to in place.
Normed add_norm(Context& context, Tape& tape, const Residual& residual,
                const std::vector<const Norm*>& norms);

}  // namespace shoal
