#include "layers/embedding.h"

namespace shoal {

Parameter& add_vocabulary_matrix(ParameterRegistry& registry, const std::string& name, int64_t vocab_size,
                                 int64_t hidden_size, const InitRule& init, bool is_head) {
  return registry.add({.name = name,
                       .shape = {vocab_size, hidden_size},
                       .shard = {.x_dim = 0, .y_dim = 1, .z_flat = true},
                       .init = init,
                       .decay = true,
                       .matrix = is_head,
                       .vocabulary = true});
}

Var Embedding::forward(Context& context, Tape& tape, const Tensor& tokens) const {
  const int64_t H = table_.slab.shape[1], first_row = table_.slab.offset[0];
  Var y = make_var(Tensor(context.device, context.compute, {tokens.numel(), H}));
  context.ops.embedding(
      {.tokens = tokens, .table = table_.compute, .y = y.value, .scale = scale_, .first_row = first_row});
  tape.record([this, &context, tokens, first_row, dy = y.grad] {
    context.ops.embedding_grad({.tokens = tokens,
                                .dy = *dy,
                                .dtable = grad_to_add(context.ops, table_),
                                .scale = scale_,
                                .first_row = first_row});
    dy->reset();
  });
  return y;
}

}  // namespace shoal
