// A Hugging Face folder as a checkpoint here.
#pragma once

#include <string>

#include "base/log.h"

namespace shoal {

// Writes into `out`, a new or empty folder:
//   ckpt/step_000000.h5  the weights in f32, and the spec of the model
//   model.yaml           the sections model and data of a spec that goes on from it
//   tokenizer.json ...   the tokenizer, if the folder has one
// Holds the largest parameter and one tensor in memory. Returns the checkpoint's path. Throws UserError.
std::string import_hf(const std::string& folder, const std::string& out, Log& log);

}  // namespace shoal
