#include "layers/block.h"

namespace shoal {

Block::Block(ParameterRegistry& registry, const Attention::Spec& attention, const Mlp::Spec& mlp,
             const Norm::Spec& norm1, const Norm::Spec& norm2, bool parallel)
    : parallel_(parallel),
      norm1_(registry, norm1),
      attention_(registry, attention),
      norm2_(registry, norm2),
      mlp_(registry, mlp) {}

Residual Block::forward(Context& context, Tape& tape, const Residual& in, const Positions& positions,
                        bool recompute) const {
  std::vector<const Norm*> norms{&norm1_};
  if (parallel_) norms.push_back(&norm2_);
  Normed normed = add_norm(context, tape, in, norms);

  std::vector<Var> inputs{std::move(normed.stream)};
  for (Var& out : normed.outs) inputs.push_back(std::move(out));
  auto run = [this, &context, positions](Tape& t, const std::vector<Var>& vars) {
    return body(context, t, vars, positions);
  };
  const std::vector<Var> outputs = recompute ? shoal::recompute(tape, inputs, run) : run(tape, inputs);
  return {outputs[0], outputs[1]};
}

// in: the stream and the outputs of the norms that stand before; out: the new stream and what is pending.
std::vector<Var> Block::body(Context& context, Tape& tape, const std::vector<Var>& in,
                             const Positions& positions) const {
  const Var attended = attention_.forward(context, tape, in[1], positions);
  if (parallel_) return {in[0], mlp_.forward(context, tape, in[2], attended)};
  const Normed normed = add_norm(context, tape, {in[0], attended}, {&norm2_});
  return {normed.stream, mlp_.forward(context, tape, normed.outs[0])};
}

}  // namespace shoal
