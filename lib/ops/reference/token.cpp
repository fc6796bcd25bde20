// The two ends of a model, where a token id selects a row or a column: embedding, and softmax cross-entropy.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/reference/elements.h"
#include "ops/reference/kernels.h"

namespace shoal::reference {
namespace {

// The index of token i within a shard of `count` that begins at `first`, or -1.
int64_t local_index(const Elements& tokens, int64_t i, int64_t first, int64_t count) {
  const int64_t token = int64_t(tokens(i));
  return token >= 0 && token >= first && token < first + count ? token - first : -1;
}

}  // namespace

void embedding(const EmbeddingArgs& args) {
  const Elements tokens(args.tokens), table(args.table), y(args.y);
  for (int64_t i = 0; i < args.y.dim(0); ++i) {
    const int64_t row = local_index(tokens, i, args.first_row, args.table.dim(0));
    for (int64_t j = 0; j < args.y.dim(1); ++j)
      y.set(row < 0 ? 0.0 : double(args.scale) * table(row, j), i, j);
  }
}

void embedding_grad(const EmbeddingGradArgs& args) {
  const Elements tokens(args.tokens), dy(args.dy), dtable(args.dtable);
  for (int64_t i = 0; i < args.dy.dim(0); ++i) {
    const int64_t row = local_index(tokens, i, args.first_row, args.dtable.dim(0));
    if (row < 0) continue;
    for (int64_t j = 0; j < args.dy.dim(1); ++j) dtable.add(double(args.scale) * dy(i, j), row, j);
  }
}

void softmax_stats(const SoftmaxStatsArgs& args) {
  const Elements logits(args.logits), targets(args.targets);
  const Elements maximum(args.maximum), sum_exp(args.sum_exp), target_logit(args.target_logit);
  const int64_t rows = args.logits.dim(0), columns = args.logits.dim(1);
  for (int64_t i = 0; i < rows; ++i) {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (int64_t j = 0; j < columns; ++j) highest = std::max(highest, logits(i, j));
    for (int64_t j = 0; j < columns; ++j) sum += std::exp(logits(i, j) - highest);
    const int64_t target = local_index(targets, i, args.first_column, columns);
    maximum.set(highest, i);
    sum_exp.set(sum, i);
    target_logit.set(target < 0 ? 0.0 : logits(i, target), i);
  }
}

void softmax_grad(const SoftmaxGradArgs& args) {
  const Elements logits(args.logits), targets(args.targets), lse(args.lse), weight(args.weight);
  const Elements z_weight(args.z_weight), dlogits(args.dlogits);
  const int64_t rows = args.logits.dim(0), columns = args.logits.dim(1);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t target = local_index(targets, i, args.first_column, columns);
    const double w = weight(i), z = args.z_weight.defined() ? z_weight(i) : 0.0;
    for (int64_t j = 0; j < columns; ++j) {
      const double p = std::exp(logits(i, j) - lse(i));
      const double gradient = p * (w + 2.0 * z * lse(i)) - (j == target ? w : 0.0);
      dlogits.set(w == 0.0 ? 0.0 : gradient, i, j);
    }
  }
}

}  // namespace shoal::reference
