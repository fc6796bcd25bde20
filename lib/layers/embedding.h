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

// Each rank looks up the tokens of its rows of the table, which x cuts; the sum over x has them all, and each
// rank keeps its rows of that.
class Embedding {
 public:
  Embedding(ParameterRegistry& registry, Parameter& table, float scale = 1)
      : registry_(registry), table_(table), scale_(scale) {}

  // tokens [M] i32 in device memory -> [M / x rows, H / y] in the compute type.
  Var forward(Context& context, Tape& tape, const Tensor& tokens) const;

 private:
  ParameterRegistry& registry_;
  Parameter& table_;
  float scale_;
};

}  // namespace shoal
