// The shapes that the benchmarks of the operations use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

// What a training step of a GPT-NeoX-like decoder computes with; sizes as in ops.h, rows M = batch *
// sequence.
struct StepShape {
  std::string name;
  int64_t layers, hidden, intermediate, heads, vocab, batch, sequence;
  int64_t head_rows;  // of the logits at a time

  int64_t rows() const { return batch * sequence; }
};

StepShape pythia_70m_step();  // 6 layers, hidden 512, vocabulary 50304, 4 x 512 tokens
StepShape gpt_25m_step();     // 8 layers, hidden 512, vocabulary 8192, 8 x 512 tokens

// One matrix product of the step: c [m, n] with a sum over k.
struct Product {
  enum class Pass { forward, input_grad, weight_grad };
  std::string name;  // of the weight: "qkv"
  Pass pass;
  int64_t m, n, k;
  double count;  // how often a step does it

  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
};

std::vector<Product> products_of(const StepShape& shape);

}  // namespace shoal
