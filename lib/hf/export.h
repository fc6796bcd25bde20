// A checkpoint as a Hugging Face folder that transformers loads.
#pragma once

#include <cstdint>
#include <string>

#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "spec/run_spec.h"

namespace shoal {

struct ExportOptions {
  std::string dtype = "f32";                     // f32 | bf16 | f16
  int64_t shard_bytes = int64_t{5'000'000'000};  // a larger model is cut into files of at most so much
  bool check_parity = true;  // compare the logits of what was written with the checkpoint's
};

// Writes `out`, a new folder, whole or not at all. spec is the checkpoint's, or it with another
// data.tokenizer. One tensor at a time is in memory; the parity check needs 4 bytes a parameter. Throws
// UserError for a model that the classes cannot express, RuntimeFailure if the logits differ by more than the
// type's rounding.
void export_hf(CheckpointReader& checkpoint, const RunSpec& spec, const std::string& out,
               const ExportOptions& options, Log& log);

}  // namespace shoal
