// How many FLOPs a training token costs, by the three counting rules in use.
#pragma once

namespace shoal {

// 6 N (Kaplan et al. 2020).
inline double flops_per_token_6n(double params) {
  return 6 * params;
}

// Narayanan et al. 2021 (arXiv 2104.04473), GPT with 4h feed-forward: 72 l h^2 (1 + s/(6h) + V/(12 l h))
// without recomputation, 96 l h^2 (1 + s/(6h) + V/(16 l h)) with full recomputation.
double flops_per_token_narayanan(double width, double depth, double seq_length, double vocab, bool recompute);

// The Gemstones count (McLeish et al. 2025, arXiv 2502.06857): heads of 128, half as many key-value heads,
// GeGLU with 4 * width, rotary, norms and softmax counted, at sequence 2048 and a vocabulary of 50304.
double flops_per_token_gemstones(double width, double depth);

// Parameters of a Gemstones shape, input and output embeddings (each 50304 * width) included.
double gemstones_params(double width, double depth);

}  // namespace shoal
