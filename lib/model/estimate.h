// What a run needs before it runs: memory, work and disk, as closed formulas.
#pragma once

#include "model/config.h"
#include "spec/run_spec.h"

namespace shoal {

// Bytes on one rank that holds the whole model.
struct MemoryEstimate {
  double weights = 0;      // f32 masters, and bf16 copies of the matrices
  double gradients = 0;    // f32
  double optimizer = 0;    // AdamW: two f32 moments
  double activations = 0;  // of one pass, kept for backward
  double workspace = 0;    // logits of a chunk, and what one layer's backward holds for a while
  double snapshot = 0;     // the copy that a background save writes from

  double total() const { return weights + gradients + optimizer + activations + workspace + snapshot; }
};

MemoryEstimate estimate_memory(const RunSpec& spec, const ModelConfig& model);

// Weights and optimizer state in f32.
double checkpoint_bytes(const ModelConfig& model);

// Checkpoints on disk at the end of the run, by the retention keys.
int64_t checkpoints_kept(const RunSpec& spec);

}  // namespace shoal
