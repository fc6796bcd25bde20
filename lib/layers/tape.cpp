#include "layers/tape.h"

namespace shoal {

std::vector<Var> recompute(Tape& tape, const std::vector<Var>& inputs, Segment segment) {
  Tape forward_only(false);
  std::vector<Var> outputs = segment(forward_only, inputs);
  if (!tape.recording()) return outputs;

  // Gradient slots are shared with the second run: what arrives at an output is where its producer looks for
  // it, and what the second run leaves at an input is where the rest of the tape looks for it.
  struct Kept {
    Saved value;
    std::shared_ptr<Tensor> grad;
    std::function<Tensor()> again;
  };
  std::vector<Kept> kept;
  for (const Var& input : inputs) kept.push_back({input.save(), input.grad, input.again});
  std::vector<std::shared_ptr<Tensor>> output_grads;
  for (const Var& output : outputs) output_grads.push_back(output.grad);

  tape.record([kept = std::move(kept), output_grads = std::move(output_grads), segment = std::move(segment)] {
    std::vector<Var> again;
    for (const Kept& k : kept) again.push_back({k.value.get(), k.grad, k.again});
    Tape local;
    std::vector<Var> results = segment(local, again);
    again.clear();
    for (size_t i = 0; i < results.size(); ++i) *results[i].grad = *output_grads[i];
    results.clear();
    local.backward();
  });
  return outputs;
}

}  // namespace shoal
