#include "model/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace shoal {
namespace {

constexpr double kF32 = 4;

double type_bytes(const RunSpec& spec) {
  return spec.precision.compute == "bf16" ? 2 : kF32;
}

// Elements of one layer and row (token) that the forward leaves for the backward; the outputs of norms and of
// the activation function are computed again instead.
double kept_elements(const ModelConfig& m) {
  const double h = double(m.hidden_size), d = double(m.head_dim);
  const double streams = m.parallel_residual ? h : 2 * h;
  const double attention = double(m.num_heads + 2 * m.num_kv_heads) * d + double(m.num_heads) * d;
  const double mlp = double(m.gated ? 2 : 1) * double(m.intermediate_size);
  return streams + attention + mlp;
}

// Elements of one row that the backward of one layer holds at its peak: the gated product and its gradients.
double backward_elements(const ModelConfig& m) {
  const double h = double(m.hidden_size), f = double(m.intermediate_size);
  return 3 * h + double(m.gated ? 3 : 1) * f;
}

// Statistics in f32: log-sum-exp of each head, mean and deviation of two norms.
double kept_f32(const ModelConfig& m) {
  return double(m.num_heads) + 2 * (m.rmsnorm ? 1 : 2);
}

struct MatrixShape {
  double rows, columns;
};

std::array<MatrixShape, 4> layer_matrices(const ModelConfig& m) {
  const double h = double(m.hidden_size), d = double(m.head_dim), f = double(m.intermediate_size);
  return {{{double(m.num_heads + 2 * m.num_kv_heads) * d, h},
           {h, double(m.num_heads) * d},
           {m.gated ? 2 * f : f, h},
           {h, f}}};
}

// The two square factors of each block, blocks being cut evenly and no larger than the cap.
double jorge_factors(const MatrixShape& shape, double cap) {
  const double row_parts = std::ceil(shape.rows / cap), column_parts = std::ceil(shape.columns / cap);
  const double rows = std::ceil(shape.rows / row_parts), columns = std::ceil(shape.columns / column_parts);
  return row_parts * column_parts * (rows * rows + columns * columns);
}

// The CPU backend keeps a packed copy of a matrix for the forward and one for the backward product once it
// has been used twice since the last update, unless the matrix is large (ops/cpu/gemm_onednn.cpp). The head
// is used for every chunk of logits, the rest for every pass.
double packed_bytes(const ModelConfig& m, double bytes, bool several_chunks, bool several_passes) {
  constexpr double kLargest = 32.0 * 1024 * 1024;
  const auto copies = [&](const MatrixShape& shape) {
    const double size = shape.rows * shape.columns * bytes;
    return size <= kLargest ? 2 * size : 0;
  };
  double sum = 0;
  if (several_chunks || several_passes) sum += copies({double(m.vocab_size), double(m.hidden_size)});
  if (several_passes) {
    for (const MatrixShape& shape : layer_matrices(m)) sum += double(m.num_layers) * copies(shape);
  }
  return sum;
}

// As the loss head chooses.
double rows_of_logits(const RunSpec& spec, const ModelConfig& m, double rows) {
  if (spec.loss.chunk > 0) return std::min(double(spec.loss.chunk), rows);
  constexpr double kTarget = 80.0 * 1024 * 1024;  // bytes
  const double fit = std::max(std::floor(kTarget / (double(m.vocab_size) * kF32)), 256.0);
  return std::min(rows, std::ceil(rows / std::ceil(rows / fit) / 16) * 16);
}

}  // namespace

MemoryEstimate estimate_memory(const RunSpec& spec, const ModelConfig& m) {
  const double parameters = double(m.parameter_count());
  const double rows = double(spec.batch.micro) * double(spec.data.seq_length);
  const double bytes = type_bytes(spec);
  const double head = double(m.vocab_size) * double(m.hidden_size);
  const double layer = rows * (kept_elements(m) * bytes + kept_f32(m) * kF32);
  const bool accumulates = spec.batch.global > spec.batch.micro;
  MemoryEstimate e;
  // An embedding that is not the head as well is read in f32.
  const double copied = m.tie_embeddings ? parameters : parameters - head;
  e.weights = parameters * kF32 + (bytes < kF32 ? copied * bytes : 0);
  e.optimizer = optimizer_elements(spec.optimizer, m) * kF32;
  if (spec.checkpoint.background) e.snapshot = checkpoint_bytes(spec, m);
  const double chunk = rows_of_logits(spec, m, rows);
  e.packed = packed_bytes(m, bytes, chunk < rows, accumulates);

  // The logits are gone when the first layer's backward begins.
  const double logits = chunk * double(m.vocab_size) * kF32;
  const double backward = rows * backward_elements(m) * bytes;
  e.activations = spec.precision.recompute
                      ? double(m.num_layers) * rows * double(m.hidden_size) * bytes + layer
                      : double(m.num_layers) * layer;
  e.workspace = std::max(logits, backward);
  e.gradients = (accumulates ? parameters : head) * kF32;
  // Gradients take memory as the backward pass reaches them, which frees activations at the same time: a step
  // of one pass has its peak either when that begins or when it ends.
  // A product that reads its input transposed turns it over first.
  const double at_the_end = parameters * kF32 + layer + backward + rows * double(m.intermediate_size) * bytes;
  if (!accumulates && at_the_end > e.gradients + e.activations + e.workspace) {
    e.workspace = at_the_end - parameters * kF32 - layer;
    e.gradients = parameters * kF32;
    e.activations = layer;
  }
  return e;
}

double optimizer_elements(const OptimizerSection& optimizer, const ModelConfig& m) {
  const double parameters = double(m.parameter_count());
  if (optimizer.name == "sgd") return parameters;
  if (optimizer.name == "adamw" || optimizer.name == "adam-atan2") return 2 * parameters;
  // The others keep AdamW for what is no matrix of a layer.
  double matrices = 0, factors = 0;
  for (const MatrixShape& shape : layer_matrices(m)) {
    matrices += double(m.num_layers) * shape.rows * shape.columns;
    factors += double(m.num_layers) * jorge_factors(shape, double(optimizer.jorge.block_size));
  }
  const double rest = 2 * (parameters - matrices);
  if (optimizer.name == "muon") return rest + matrices;
  return rest + matrices * (optimizer.jorge.graft == "adam" ? 3 : 2) + factors;
}

double checkpoint_bytes(const RunSpec& spec, const ModelConfig& m) {
  return (double(m.parameter_count()) + optimizer_elements(spec.optimizer, m)) * kF32;
}

int64_t checkpoints_kept(const RunSpec& spec) {
  const CheckpointSection& c = spec.checkpoint;
  const int64_t steps = spec.run.steps;
  constexpr int64_t kMost = 1'000'000;  // enough to say "too many"
  std::set<int64_t> saved, kept;
  if (c.every > 0 && steps / c.every < kMost) {
    for (int64_t step = c.every; step <= steps; step += c.every) saved.insert(step);
  }
  if (c.save_final) saved.insert(steps);
  if (c.schedule == "pythia") {
    for (int64_t step = 0; step <= std::min<int64_t>(steps, 512); step = step == 0 ? 1 : 2 * step)
      kept.insert(step);
    for (int64_t step = 1000; step <= steps && step / 1000 < kMost; step += 1000) kept.insert(step);
  }
  for (const int64_t step : saved) {
    if (c.keep_last == 0 || (c.keep_every > 0 && step % c.keep_every == 0)) kept.insert(step);
  }
  int64_t newest = 0;
  for (auto step = saved.rbegin(); step != saved.rend() && newest < c.keep_last; ++step, ++newest)
    kept.insert(*step);
  return int64_t(kept.size());
}

}  // namespace shoal
