// From the backward of a layer to the gradient of a shard. Of what z has cut, backward makes the whole block
// of one micro-batch, which is reduce-scattered over z behind the rest of the pass (AxoNN's ORS, arXiv
// 2502.08145) and added to Parameter::grad; the gradient of what z has not cut goes there at once.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "layers/parameter.h"

namespace shoal {

// Takes the gradients of each micro-batch instead of Parameter::grad, for sums in an order of its own.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  // One micro-batch's gradient of the whole local block, [slab.shape] f32, not summed over z and data. That
  // of a matrix is complete over x and y; any other lacks the sum over the tensor axis that does not cut it
  // (finish_step takes it, after the sink has set Parameter::grad).
  virtual void add(Parameter& parameter, const Tensor& block) = 0;
};

class Gradients {
 public:
  explicit Gradients(Context& context) : context_(context) {}

  // For a layer's backward: where the gradient of this micro-batch goes, [slab.shape] f32.
  // to_write sets accumulate to whether the caller must add to it; to_add gives zeros if nothing is there.
  Tensor to_write(Parameter& parameter, bool& accumulate);
  Tensor to_add(Parameter& parameter);
  // The layer is done with it. To be called once for each of spec.uses.
  void written(Parameter& parameter);

  // The end of a backward pass: every reduce-scatter has arrived.
  void finish_pass();
  // After the last micro-batch: the sums over x or y, and over z, of the gradients that the grid does not cut
  // along them (biases and norms), in one collective an axis.
  void finish_step(const std::vector<Parameter*>& all);

  // on_ready, if set, is called for each parameter of this pass when its gradient lacks nothing but the sum
  // over data: of matrices while backward goes on, of the rest in finish_step. For the last micro-batch.
  std::function<void(Parameter&)> on_ready;
  GradientSink* sink = nullptr;

 private:
  struct Scatter {
    Parameter* parameter;
    Tensor block;  // z parts, padded
    Tensor shard;  // what arrives
    Request request;
  };

  bool direct(const Parameter& p) const { return sink == nullptr && !p.over_z; }
  void scatter(Parameter& parameter, Tensor block);
  void arrive();  // waits for the oldest
  void sum(const std::vector<Parameter*>& parameters, Axis axis, const char* label);

  Context& context_;
  std::map<const Parameter*, Tensor> blocks_;
  std::map<const Parameter*, int> written_;
  std::deque<Scatter> under_way_;
};

}  // namespace shoal
