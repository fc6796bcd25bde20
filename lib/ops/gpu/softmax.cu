// The statistics of softmax cross-entropy over a chunk of logits, and its gradient in the logits' place.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

__global__ void stats_kernel(Rows<float> logits, const int32_t* targets, float* maximum, float* sum_exp,
                             float* target_logit, int64_t columns, int64_t first_column) {
  const int64_t i = int64_t(blockIdx.x);
  const float* const row = logits[i];
  float highest = -INFINITY;
  for (int64_t j = int64_t(threadIdx.x); j < columns; j += block_threads) highest = fmaxf(highest, row[j]);
  highest = block_max(highest);
  float sum = 0;
  for (int64_t j = int64_t(threadIdx.x); j < columns; j += block_threads) sum += expf(row[j] - highest);
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  const int64_t target = int64_t(targets[i]) - first_column;
  const bool inside = targets[i] >= 0 && target >= 0 && target < columns;
  maximum[i] = highest;
  sum_exp[i] = sum;
  target_logit[i] = inside ? row[target] : 0.0f;
}

// The gradient may begin where its row of the logits does and overwrite it: all of a block's reads of a piece
// come before its writes, which lie at or before what was read.
template <typename T>
__global__ void grad_kernel(Rows<float> logits, Rows<T> dlogits, const int32_t* targets, const float* lse,
                            const float* weight, const float* z_weight, int64_t columns,
                            int64_t first_column) {
  const int64_t i = int64_t(blockIdx.x);
  const float w = weight[i], l = lse[i], z = z_weight != nullptr ? z_weight[i] : 0.0f;
  const int64_t target = targets[i] >= 0 ? int64_t(targets[i]) - first_column : -1;
  for (int64_t first = 0; first < columns; first += block_threads) {
    const int64_t j = first + int64_t(threadIdx.x);
    float gradient = 0;
    if (j < columns && w != 0) gradient = expf(logits[i][j] - l) * (w + 2 * z * l) - (j == target ? w : 0.0f);
    __syncthreads();
    if (j < columns) store(&dlogits[i][j], gradient);
    __syncthreads();
  }
}

}  // namespace

void softmax_stats(Stream stream, const SoftmaxStatsArgs& args) {
  if (args.logits.dim(0) == 0) return;
  const auto rows = static_cast<unsigned>(args.logits.dim(0));
  launch(stats_kernel, dim3(rows), dim3(block_threads), 0, stream, Rows<float>(args.logits),
         static_cast<const int32_t*>(args.targets.as<int32_t>()), args.maximum.as<float>(),
         args.sum_exp.as<float>(), args.target_logit.as<float>(), args.logits.dim(1), args.first_column);
}

void softmax_grad(Stream stream, const SoftmaxGradArgs& args) {
  if (args.logits.dim(0) == 0) return;
  const auto rows = static_cast<unsigned>(args.logits.dim(0));
  with_type(args.dlogits.dtype, [&](auto type) {
    using T = decltype(type);
    launch(grad_kernel<T>, dim3(rows), dim3(block_threads), 0, stream, Rows<float>(args.logits),
           Rows<T>(args.dlogits), static_cast<const int32_t*>(args.targets.as<int32_t>()),
           static_cast<const float*>(args.lse.as<float>()),
           static_cast<const float*>(args.weight.as<float>()),
           static_cast<const float*>(args.z_weight.defined() ? args.z_weight.as<float>() : nullptr),
           args.logits.dim(1), args.first_column);
  });
}

}  // namespace shoal::gpu
