// Whether a Hugging Face folder holds the model of a checkpoint: the logits of both on a fixed prompt.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/checkpoint.h"
#include "hf/folder.h"
#include "model/config.h"

namespace shoal {

struct Parity {
  double relative = 0;  // |a - b| / |a| of all logits, in the 2-norm; not finite if logits are not
  double largest = 0;   // |a - b| of the logit that differs most
  int64_t same_choice = 0, positions = 0;  // positions whose most likely token is the same
};

// Reads the folder as an import would. The prompt is token i = (7919 i + 1) mod vocab_size for i below 16.
// The model is computed in f32, one after the other: 4 bytes a parameter of memory.
Parity compare_logits(CheckpointReader& checkpoint, const HfFolder& folder, const ModelConfig& config);

}  // namespace shoal
