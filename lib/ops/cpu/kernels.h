// The operations of ops.h on the CPU, except products of matrices (gemm.h) and attention (attention.h).
// OpenMP over rows or pieces, vectors within; results do not depend on the number of threads. Scratch memory
// is the device's.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "ops/ops.h"

namespace shoal::cpu {

void activation(const ActivationArgs& args);
void activation_grad(Device& device, const ActivationGradArgs& args);
void glu(const GluArgs& args);
void glu_grad(const GluGradArgs& args);

void layernorm(Device& device, const NormArgs& args);
void layernorm_grad(Device& device, const NormGradArgs& args);
void rmsnorm(Device& device, const NormArgs& args);
void rmsnorm_grad(Device& device, const NormGradArgs& args);

void norm_stats(Device& device, const NormStatsArgs& args);
void norm_combine(const NormCombineArgs& args);
void norm_apply(Device& device, const NormArgs& args);
void norm_grad_sums(Device& device, const NormGradArgs& args);
void norm_grad_apply(Device& device, const NormGradArgs& args);

// Keeps the angles' sines and cosines: they depend on the position and the pair only.
class Rotary {
 public:
  void operator()(const RotaryArgs& args);

 private:
  struct Table {  // [positions, pairs] each
    std::vector<float> cosine, sine;
  };
  const Table& table(const RotaryArgs& args, int64_t positions);

  std::map<std::pair<int64_t, double>, Table> tables_;  // by (rotary_dims, base)
};

void embedding(const EmbeddingArgs& args);
void embedding_grad(const EmbeddingGradArgs& args);
void softmax_stats(const SoftmaxStatsArgs& args);
void softmax_grad(const SoftmaxGradArgs& args);

void add(const View& a, const View& b, const View& out);
void bias_grad(Device& device, const View& dy, const View& dbias);
void adamw(const AdamwArgs& args);
double adam_relative_squares(const AdamwArgs& args);
double sum_squares(const View& x);
void scale(const View& x, float factor);
void cast(const View& from, const View& to);
void fill(const View& x, float value);
void axpby(float a, const View& x, float b, const View& y);
void symmetrize(const View& x);

}  // namespace shoal::cpu
