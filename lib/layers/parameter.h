// Parameters are global: a name, a global shape, a shard rule, an init rule, a decay flag. This rank holds
// its part of each:
//
//   slab    its block of the global tensor, as x and y cut it
//   shard   of the flattened block, what z leaves here: gathered over z before use
//   owned   of the shard, what this rank updates: all of it, or its part over data (shard_optimizer)
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "grid/grid.h"
#include "layers/context.h"

namespace shoal {

class Gradients;
class Weights;

// The value of global element i of a parameter, for initialisation: constant, or normal(0, std) (optionally
// redrawn beyond `truncate` standard deviations) from the generator's stream named after the parameter.
struct InitRule {
  enum class Kind { constant, normal } kind = Kind::constant;
  double value = 0;     // the constant, or the standard deviation
  double truncate = 0;  // 0: not truncated
  static InitRule constant(double v) { return {Kind::constant, v, 0}; }
  static InitRule normal(double std, double truncate = 0) { return {Kind::normal, std, truncate}; }
};

struct ParameterSpec {
  std::string name;  // "layers.3.attention.qkv.weight"
  Shape shape;       // global
  ShardRule shard;
  InitRule init;
  bool decay = false;       // weight decay applies (matrices and embeddings)
  bool matrix = false;      // read by matrix products in the compute type; else kept in f32 alone
  bool vocabulary = false;  // an embedding table or an output head
  int output_dims = 1;      // of a matrix: how many leading dims are its rows; the others are its columns
  int uses = 1;             // layers that read it in one pass: 2 for an embedding that is the head as well
};

// Tensors of a whole block have its shape; of a part of it, one dim.
struct Parameter {
  ParameterSpec spec;
  Slab slab;
  Range shard, owned;                      // within the flattened block; the last ranks' may be empty
  bool over_z = false, over_data = false;  // whether shard is a part of the block, owned one of the shard
  // The equal parts that collectives move: of the block over z, of the z part over data. Behind the elements
  // of compute and grad there is room up to max(z_part, data_part * data ranks), and up to data_part behind
  // those of the master.
  int64_t z_part = 0, data_part = 0, room = 0;
  Tensor master;  // f32, the owned part
  // The shard in the compute type; f32 if the parameter is not a matrix. In f32 the master is part of its
  // memory.
  Tensor compute;
  // The shard's gradient in f32, undefined until a backward of this step has reached it. Of a matrix it is
  // summed over x, y and z once the pass is finished, of the others once the step is. Not summed over data.
  Tensor grad;

  int64_t block_size() const { return slab.shape.numel(); }
};

class ParameterRegistry {
 public:
  ParameterRegistry();
  ~ParameterRegistry();
  ParameterRegistry(const ParameterRegistry&) = delete;
  ParameterRegistry& operator=(const ParameterRegistry&) = delete;

  // Adds a parameter; the reference stays valid. The name must be new.
  Parameter& add(ParameterSpec spec);
  Parameter* find(std::string_view name);
  std::deque<Parameter>& all() { return parameters_; }
  const std::deque<Parameter>& all() const { return parameters_; }
  int64_t count() const;  // global elements

  // Allocates and initialises this rank's part of every parameter. The context must outlive the registry.
  void materialize(Context& context);
  // After the masters were set from outside (a checkpoint): brings the compute copies up to date.
  // Collective over data where owned parts are cut over it.
  void masters_changed(Context& context);
  // Before a step: gives the gradients' memory back, so that activations can have it until backward needs it.
  void clear_grads();

  // Where layers get matrices from and hand gradients to; there once the parameters have memory.
  Weights& weights() { return *weights_; }
  Gradients& gradients() { return *gradients_; }

 private:
  std::deque<Parameter> parameters_;
  std::unique_ptr<Weights> weights_;
  std::unique_ptr<Gradients> gradients_;
};

// Gathers a compute copy over data after each rank has written its owned part of it. Nothing to do (and an
// empty request) where the shard is owned as a whole.
Request gather_owned(Context& context, const Parameter& parameter);

// All of a registry, waited for. Collective over data.
void gather_owned(Context& context, const ParameterRegistry& parameters);

// For code that adds to a gradient: the gradient, of zeros if nothing has reached it in this step yet.
const Tensor& grad_to_add(Ops& ops, Parameter& parameter);
// For code that can also overwrite: sets accumulate to whether it must add.
const Tensor& grad_to_write(Ops& ops, Parameter& parameter, bool& accumulate);

}  // namespace shoal
