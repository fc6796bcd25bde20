// Parameters are global: a name, a global shape, a shard rule, an init rule, a decay flag. This rank holds
// its block.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "grid/grid.h"
#include "layers/context.h"

namespace shoal {

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
};

struct Parameter {
  ParameterSpec spec;
  Slab slab;      // this rank's part
  Tensor master;  // f32
  // Of the compute type; shares master's memory when that is f32 or the parameter is not a matrix.
  Tensor compute;
  Tensor grad;  // f32; undefined until a backward of this step has reached it
};

class ParameterRegistry {
 public:
  // Adds a parameter; the reference stays valid. The name must be new.
  Parameter& add(ParameterSpec spec);
  Parameter* find(std::string_view name);
  std::deque<Parameter>& all() { return parameters_; }
  const std::deque<Parameter>& all() const { return parameters_; }
  int64_t count() const;  // global elements

  // Allocates and initialises every parameter for this rank.
  void materialize(Context& context);
  // After the masters were set from outside (a checkpoint): brings the compute copies up to date.
  void masters_changed(Context& context);
  // Before a step: gives the gradients' memory back, so that activations can have it until backward needs it.
  void clear_grads();

 private:
  std::deque<Parameter> parameters_;
};

// For a backward that adds to a gradient: the gradient, of zeros if nothing has reached it in this step yet.
const Tensor& grad_to_add(Ops& ops, Parameter& parameter);
// For a backward that can also overwrite: sets accumulate to whether it must add.
const Tensor& grad_to_write(Ops& ops, Parameter& parameter, bool& accumulate);

}  // namespace shoal
