// Optimizers work on registry entries: each reads a parameter's gradient, keeps its own state as more named
// global tensors, and writes the master weight and its compute copy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "layers/parameter.h"
#include "ops/ops.h"
#include "spec/run_spec.h"

namespace shoal {

// One global tensor of optimizer state and this rank's part of it.
struct OptimizerTensor {
  std::string name;  // "optimizer/m/layers.0.attention.qkv.weight"
  Shape shape;       // global
  ShardRule shard;
  Slab slab;     // this rank's block
  Tensor value;  // f32, zero at the start unless the optimizer says otherwise
  // Where it follows a parameter's cut: whose `owned` part of the block `value` is. Else the whole slab.
  const Parameter* parameter = nullptr;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Applies update number `update` (1 is the first; skipped steps do not count). Every gradient is multiplied
  // by gradient_scale first. Gradients are left as they are. The caller tells the ops that weights changed.
  virtual void apply(int64_t update, double lr, double gradient_scale) = 0;

  // All that a resumed run needs besides the update number; saved and restored by name.
  virtual std::vector<OptimizerTensor>& state() = 0;

  // One line for the log: hyper-parameters and which parameters decay.
  virtual std::string describe() const = 0;
};

// The optimizer the section names, with state for every parameter of the (materialized) registry.
// Throws UserError for a name that is not built in, and for one that needs whole matrices where the grid cuts
// them.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSection& section, ParameterRegistry& parameters,
                                          const Context& context);

// Whether weight decay applies to a parameter under the rule optimizer.decay: matrices | all | none.
bool decays(const OptimizerSection& section, const ParameterSpec& parameter);

// What several optimizers need. State of a parameter's shape, zeros: "optimizer/<kind>/<parameter>".
OptimizerTensor make_state(std::string_view kind, const Parameter& parameter, Ops& ops);
// The part of the compute copy that belongs to the master; empty (no data) where the two are one.
View owned_copy(const Parameter& parameter);
// After an update of the master weight: brings that part up to date.
void update_compute_copy(const Parameter& parameter, Ops& ops);
// Weight matrices other than embeddings and heads: what Jorge and Muon work on.
bool is_weight_matrix(const ParameterSpec& spec);
// The rate of the AdamW beside Jorge or Muon when theirs is lr: scheduled alike, with its own peak.
double adamw_rate(const OptimizerSection& section, double lr);
std::vector<Parameter*> without_matrices(std::vector<Parameter*> parameters);
// A weight (or its state or gradient) of any rank as the matrix [outputs, inputs] that products see.
View as_matrix(const View& view, const ParameterSpec& spec);

// "decay 0.1 on 26 matrices and embeddings (25.2M), not on 50 norm weights and biases (51.2k)"
std::string describe_decay(const OptimizerSection& section, const std::vector<Parameter*>& parameters);

}  // namespace shoal
