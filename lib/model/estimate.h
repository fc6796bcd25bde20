// What a run needs before it runs: memory, work and disk, as closed formulas.
#pragma once

#include "model/config.h"
#include "spec/run_spec.h"

namespace shoal {

// Bytes of the tensors that are alive at the peak, on one rank that holds the whole model. The process holds
// more: the program itself, and blocks of other sizes that the device keeps for reuse.
struct MemoryEstimate {
  double weights = 0;  // f32 masters, and bf16 copies of the matrices
  double packed = 0;   // matrices once more in each order that the CPU's products read them in, if used again
  double gradients = 0;    // f32
  double optimizer = 0;    // f32
  double activations = 0;  // of one pass, kept for backward
  double workspace = 0;    // logits of a chunk, or what one layer's backward holds for a while
  double snapshot = 0;     // the copy that a background save writes from

  double total() const {
    return weights + packed + gradients + optimizer + activations + workspace + snapshot;
  }
};

MemoryEstimate estimate_memory(const RunSpec& spec, const ModelConfig& model);

// Elements of the optimizer's state.
double optimizer_elements(const OptimizerSection& optimizer, const ModelConfig& model);

// Weights and optimizer state in f32.
double checkpoint_bytes(const RunSpec& spec, const ModelConfig& model);

// Checkpoints on disk at the end of the run, by the retention keys.
int64_t checkpoints_kept(const RunSpec& spec);

}  // namespace shoal
