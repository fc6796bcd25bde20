// Matrices as products read them. What z has cut is gathered before use and dropped after it; the next ones
// are gathered while this one is in use (AxoNN's OAG, arXiv 2502.08145). Their order is that of the last
// pass of the same kind, so that recomputation and tied weights need no rule of their own.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "layers/parameter.h"

namespace shoal {

enum class Pass { train, evaluate };

// The block of a parameter, [slab.shape] in its compute type.
struct WeightBlock {
  Tensor value;
  bool passing = false;  // the memory will hold something else before the weights change

  View matrix(int64_t rows) const { return value.view().reshape({rows, value.numel() / rows}); }
};

class Weights {
 public:
  explicit Weights(Context& context) : context_(context) {}

  // Around a micro-batch. Every rank of a z group makes the same calls in the same order.
  void begin(Pass pass);
  void end();

  WeightBlock use(const Parameter& parameter);

 private:
  struct Gathered {
    Tensor buffer;  // z parts, padded
    Request request;
  };
  struct Order {
    std::vector<const Parameter*> uses;
    bool complete = false;
  };

  // Notes the use, and whether the order of the last pass still holds.
  void advance(const Parameter& parameter);
  Gathered& start(const Parameter& parameter);
  bool used_again(const Parameter& parameter) const;

  Context& context_;
  Pass pass_ = Pass::evaluate;
  bool open_ = false;
  std::map<Pass, Order> orders_;
  size_t position_ = 0;
  std::map<const Parameter*, Gathered> gathered_;
  std::set<const Parameter*> seen_;  // gathered in this pass before
};

}  // namespace shoal
