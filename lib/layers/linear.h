// y = x W^T + b with W stored [out, in].
//
// Of the two tensor axes one cuts the outputs (o), the other the inputs (i). A rank holds the block
// [out / o, in / i] of W, takes x as [M / o rows, in / i] and makes y as [M / i rows, out / o], which is what
// a layer with the axes swapped takes:
//
//   forward    gather rows of x over o, multiply, sum over i and scatter rows over i
//   backward   gather rows of dy over i; dx = dy W, summed and scattered over o behind the product of
//              dW = dy^T x, for which the rows of x are gathered once more
//
// A gather and a scatter of the same rows move the bytes of one all-reduce of AxoNN's Algorithm 1 (arXiv
// 2502.08145), and what is done between layers is done once.
#pragma once

#include <string>

#include "layers/context.h"
#include "layers/parameter.h"
#include "layers/tape.h"
#include "layers/weights.h"

namespace shoal {

// Which axis cuts the outputs.
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
  // The rows of y where x has `rows`.
  int64_t out_rows(const Context& context, int64_t rows) const {
    return rows * context.size(out_axis_) / context.size(in_axis_);
  }

  // y [M / i, out] (+)= x [M / o, in] W^T (+ b)
  void forward(Context& context, const Tensor& x, const View& y, bool accumulate = false,
               bool with_bias = true) const;
  // dx (+)= dy W, allocated if undefined; dW += dy^T x, and, unless the caller has its own way to it,
  // db += column sums of dy.
  void backward(Context& context, const Tensor& dy, const Saved& x, Tensor& dx, bool with_bias = true) const;

  Parameter& weight() const { return weight_; }
  Parameter* bias() const { return bias_; }

 private:
  int64_t in_size_of(const Shape& shape) const;
  void multiply(Context& context, const View& x, const View& y, bool accumulate, bool with_bias) const;
  void multiply_grad(Context& context, const View& dy, const View& dx, bool accumulate) const;
  void weight_grad(Context& context, const View& dy, const View& x) const;

  ParameterRegistry& registry_;
  std::string name_;
  Axis out_axis_, in_axis_;
  int out_rank_;
  Parameter& weight_;
  Parameter* bias_ = nullptr;
};

}  // namespace shoal
