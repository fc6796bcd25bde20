#include "laws/flops.h"

#include <cmath>

#include "base/error.h"

namespace shoal {

double flops_per_token_narayanan(double h, double l, double s, double vocab, bool recompute) {
  return recompute ? 96 * l * h * h * (1 + s / (6 * h) + vocab / (16 * l * h))
                   : 72 * l * h * h * (1 + s / (6 * h) + vocab / (12 * l * h));
}

double flops_per_token_gemstones(double w, double d, const GemstonesSizes& sizes) {
  const double s = sizes.seq_length, vocab = sizes.vocab, head = sizes.head_dim;
  const double heads = w / head;
  const double proj = 2 * s * (heads + heads) * w * head;
  const double rope = 3.5 * s * (heads + heads / 2) * head;
  const double qk = head * s * s * heads, sm = 3 * s * s * heads, pv = 2 * head * s * s * heads;
  const double out = 2 * s * w * head * heads;
  const double fwd_attn = proj + rope + qk + sm + pv + out;
  const double bwd_attn = 2 * (proj + rope) + 2.5 * (qk + sm + pv) + 2 * out;
  const double f = 4 * w;
  const double mlp = 6 * s * w * f + 10 * s * f + 2 * s * w, norm = 14 * s * w;
  const double fin = 7 * s * w, logits = 2 * s * w * vocab;
  const double forward = d * (fwd_attn + mlp + norm) + fin + logits;
  const double backward = d * bwd_attn + 2 * (d * (mlp + norm) + fin + logits);
  return (forward + backward) / s;
}

double gemstones_params(double w, double d) {
  const double heads = w / 128, kv = std::floor(heads / 2);
  return d * (w * (heads + 2 * kv) * 128 + 128 * heads * w + 12 * w * w + 2 * w) + 2 * 50304 * w + w;
}

void count_flops(std::vector<LawPoint>& points, const FlopsCount& count) {
  for (LawPoint& p : points) {
    if (count.rule == FlopsRule::six_n) {
      p.flops = flops_per_token_6n(p.params) * p.tokens;
      continue;
    }
    if (count.rule == FlopsRule::column) {
      if (!(p.flops > 0)) {
        throw UserError(Problem{"the point has no FLOPs", describe(p), "", "a column flops in every row",
                                "--flops 6n counts them from params and tokens"});
      }
      continue;
    }
    if (!(p.width > 0 && p.depth > 0)) {
      throw UserError(Problem{"the point has no width or depth, which this count of FLOPs needs", describe(p),
                              "", "columns width and depth", "--flops 6n needs params and tokens only"});
    }
    p.flops = p.tokens * (count.rule == FlopsRule::gemstones
                              ? flops_per_token_gemstones(p.width, p.depth, count.sizes)
                              : flops_per_token_narayanan(p.width, p.depth, count.sizes.seq_length,
                                                          count.sizes.vocab, count.recompute));
  }
}

}  // namespace shoal
