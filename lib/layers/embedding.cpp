#include "layers/embedding.h"

#include "layers/gradients.h"
#include "layers/rows.h"
#include "layers/weights.h"

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
  const std::string label = half_of_all_reduce(Axis::x, "embedding");
  Tensor all(context.device, context.compute, {tokens.numel(), H});
  context.ops.embedding({.tokens = tokens,
                         .table = registry_.weights().use(table_).value,
                         .y = all,
                         .scale = scale_,
                         .first_row = first_row});
  Var y = make_var(scatter_rows(context, all, Axis::x, label).get());
  tape.record([this, &context, tokens, first_row, label, dy = y.grad] {
    const Tensor gradient = gather_rows(context, *dy, Axis::x, label).get();
    dy->reset();
    context.ops.embedding_grad({.tokens = tokens,
                                .dy = gradient,
                                .dtable = registry_.gradients().to_add(table_),
                                .scale = scale_,
                                .first_row = first_row});
    registry_.gradients().written(table_);
  });
  return y;
}

}  // namespace shoal
