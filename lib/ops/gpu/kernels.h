// The kernels behind GpuOps, one family a file. All enqueue on the stream; none uses atomic operations.
#pragma once

#include "device/gpu/stream.h"
#include "ops/ops.h"

namespace shoal::gpu {

void matmul(Stream stream, const MatmulArgs& args);

void activation(Stream stream, const ActivationArgs& args);
void activation_grad(Stream stream, const ActivationGradArgs& args);
void glu(Stream stream, const GluArgs& args);
void glu_grad(Stream stream, const GluGradArgs& args);

void norm(Stream stream, const NormArgs& args, bool centred);
void norm_grad(Stream stream, const NormGradArgs& args, bool centred);
void norm_stats(Stream stream, const NormStatsArgs& args);
void norm_combine(Stream stream, const NormCombineArgs& args, const View& columns);  // columns [P] f32
void norm_apply(Stream stream, const NormArgs& args);
void norm_grad_sums(Stream stream, const NormGradArgs& args);
void norm_grad_apply(Stream stream, const NormGradArgs& args);

void rotary(Stream stream, const RotaryArgs& args, const float* cosine, const float* sine);

void attention(Stream stream, const AttentionArgs& args);
// delta [B, G, R, T] f32 is scratch.
void attention_grad(Stream stream, const AttentionGradArgs& args, const View& delta);

void embedding(Stream stream, const EmbeddingArgs& args);
void embedding_grad(Stream stream, const EmbeddingGradArgs& args);
void softmax_stats(Stream stream, const SoftmaxStatsArgs& args);
void softmax_grad(Stream stream, const SoftmaxGradArgs& args);

void add(Stream stream, const View& a, const View& b, const View& out);
void adamw(Stream stream, const AdamwArgs& args);
void scale(Stream stream, const View& x, float factor);
void cast(Stream stream, const View& from, const View& to);
void fill(Stream stream, const View& x, float value);
void axpby(Stream stream, float a, const View& x, float b, const View& y);
void symmetrize(Stream stream, const View& x);

void column_sums(Stream stream, const View& dy, const View& out);  // out [N] += column sums of dy [M, N]
// A part of the sum in each of partial's f64 elements.
void sum_squares(Stream stream, const View& x, const View& partial);
void adam_relative_squares(Stream stream, const AdamwArgs& args, const View& partial);

}  // namespace shoal::gpu
