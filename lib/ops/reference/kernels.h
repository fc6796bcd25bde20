// Every operation of ops.h as plain loops with all arithmetic in double, for any mix of f32, bf16 and f64
// views. Nothing here is fast; it is what the backends are tested against.
#pragma once

#include "ops/ops.h"

namespace shoal::reference {

void matmul(const MatmulArgs& args);

void activation(const ActivationArgs& args);
void activation_grad(const ActivationGradArgs& args);
void glu(const GluArgs& args);
void glu_grad(const GluGradArgs& args);

void layernorm(const NormArgs& args);
void layernorm_grad(const NormGradArgs& args);
void rmsnorm(const NormArgs& args);
void rmsnorm_grad(const NormGradArgs& args);
void norm_stats(const NormStatsArgs& args);
void norm_combine(const NormCombineArgs& args);
void norm_apply(const NormArgs& args);
void norm_grad_sums(const NormGradArgs& args);
void norm_grad_apply(const NormGradArgs& args);

void rotary(const RotaryArgs& args);
void attention(const AttentionArgs& args);
void attention_grad(const AttentionGradArgs& args);

void embedding(const EmbeddingArgs& args);
void embedding_grad(const EmbeddingGradArgs& args);
void softmax_stats(const SoftmaxStatsArgs& args);
void softmax_grad(const SoftmaxGradArgs& args);

void add(const View& a, const View& b, const View& out);
void bias_grad(const View& dy, const View& dbias);
void adamw(const AdamwArgs& args);
double adam_relative_squares(const AdamwArgs& args);
double sum_squares(const View& x);
void scale(const View& x, double factor);
void cast(const View& from, const View& to);
void axpby(double a, const View& x, double b, const View& y);
void symmetrize(const View& x);
void fill(const View& x, double value);

}  // namespace shoal::reference
