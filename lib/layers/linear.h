// y = x W^T + b with W stored [out, in].
#pragma once

#include <string>

#include "layers/context.h"
#include "layers/parameter.h"
#include "layers/tape.h"

namespace shoal {

// Which axis cuts the outputs. The layer whose outputs lie over x takes inputs that lie over y, and the next
// one the other way round, so that nothing moves between them.
enum class OutputAxis { x, y };

class Linear {
 public:
  // The weight's global shape is out's dims followed by in's. Ranks cut dim out_split of out and the first
  // dim of in.
  struct Spec {
    std::string name;  // ".weight" and ".bias" are added
    Shape out, in;
    bool bias = false;
    OutputAxis output_axis = OutputAxis::x;
    InitRule init;
    int out_split = 0;
  };
  Linear(ParameterRegistry& registry, const Spec& spec);

  // The local sizes; known once the parameters have memory.
  int64_t in_size() const { return in_size_of(weight_.slab.shape); }
  int64_t out_size() const { return weight_.slab.shape.numel() / in_size(); }

  // y [M, out] (+)= x [M, in] W^T (+ b)
  void multiply(Context& context, const View& x, const View& y, bool accumulate = false,
                bool with_bias = true) const;
  // dx [M, in] (+)= dy W
  void multiply_grad(Context& context, const View& dy, const View& dx, bool accumulate = false) const;
  // dW += dy^T x, and, unless the caller has its own way to it, db += column sums of dy.
  void weight_grad(Context& context, const View& dy, const View& x, bool with_bias = true) const;

  Parameter& weight() const { return weight_; }
  Parameter* bias() const { return bias_; }

 private:
  int64_t in_size_of(const Shape& shape) const;
  View matrix() const { return weight_.compute.view().reshape({out_size(), in_size()}); }

  int out_rank_;
  Parameter& weight_;
  Parameter* bias_ = nullptr;
};

}  // namespace shoal
