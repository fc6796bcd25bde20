// The feed-forward layer: down(activation(up(x))), or gated, down(activation(gate(x)) * up(x)) (Shazeer
// 2020).
#pragma once

#include <string>

#include "layers/context.h"
#include "layers/linear.h"
#include "layers/parameter.h"
#include "layers/tape.h"

namespace shoal {

class Mlp {
 public:
  struct Spec {
    std::string name;
    int64_t hidden_size = 0, intermediate_size = 0;
    Activation activation = Activation::gelu;
    bool gated = false;  // the rows of the up weight are then [2, F]: gate, up
    bool bias = false;
    InitRule init, output_init;
  };
  Mlp(ParameterRegistry& registry, const Spec& spec);

  // x [M / x rows, H / y] -> the same. If add_to is given, the result is added to it in place, and the sum
  // returned.
  Var forward(Context& context, Tape& tape, const Var& x, const Var& add_to = {}) const;

 private:
  void activate(Context& context, const View& pre, const View& y) const;
  void activation_grad(Context& context, const View& pre, const View& dy, const View& dx) const;
  void backward(Context& context, const Saved& x, Tensor pre, const Tensor& dy, Tensor& dx) const;

  ParameterRegistry& registry_;
  Spec spec_;
  Linear up_, down_;
};

}  // namespace shoal
