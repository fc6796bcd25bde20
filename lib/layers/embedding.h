// The token embedding.
#pragma once

#include <string>

#include "layers/context.h"
#include "layers/parameter.h"
#include "layers/tape.h"

namespace shoal {

// A [V, H] matrix that is an input embedding, an output head, or both (tied). The head is read by products;
// an embedding alone is not, and needs no copy in the compute type.
Parameter& add_vocabulary_matrix(ParameterRegistry& registry, const std::string& name, int64_t vocab_size,
                                 int64_t hidden_size, const InitRule& init, bool is_head);

class Embedding {
 public:
  explicit Embedding(Parameter& table, float scale = 1) : table_(table), scale_(scale) {}

  // tokens [M] i32 in device memory -> [M, H] in the compute type.
  Var forward(Context& context, Tape& tape, const Tensor& tokens) const;

 private:
  Parameter& table_;
  float scale_;
};

}  // namespace shoal
