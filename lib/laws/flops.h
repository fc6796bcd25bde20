// How many FLOPs a training token costs, by the three counting rules in use.
#pragma once

#include <vector>

#include "laws/points.h"

namespace shoal {

// 6 N (Kaplan et al. 2020).
inline double flops_per_token_6n(double params) {
  return 6 * params;
}

// Narayanan et al. 2021 (arXiv 2104.04473), GPT with 4h feed-forward: 72 l h^2 (1 + s/(6h) + V/(12 l h))
// without recomputation, 96 l h^2 (1 + s/(6h) + V/(16 l h)) with full recomputation.
double flops_per_token_narayanan(double width, double depth, double seq_length, double vocab, bool recompute);

// What the Gemstones count knows beside width and depth; the published models' values.
struct GemstonesSizes {
  double seq_length = 2048, vocab = 50304, head_dim = 128;
};

// The Gemstones count (McLeish et al. 2025, arXiv 2502.06857): half as many key-value heads as heads, GeGLU
// with 4 * width, rotary, norms and softmax counted.
double flops_per_token_gemstones(double width, double depth, const GemstonesSizes& sizes = {});

// Parameters of a Gemstones shape, input and output embeddings (each 50304 * width) included.
double gemstones_params(double width, double depth);

enum class FlopsRule { column, six_n, narayanan, gemstones };

struct FlopsCount {
  FlopsRule rule = FlopsRule::column;
  GemstonesSizes sizes = {};
  bool recompute = false;  // of narayanan
};

// Sets every point's flops = tokens * FLOPs a token by the rule; column keeps what the table says. Throws
// UserError with the row of a point that lacks width, depth or (column) its FLOPs.
void count_flops(std::vector<LawPoint>& points, const FlopsCount& count);

}  // namespace shoal
