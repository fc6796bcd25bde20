// Moving values between Hugging Face tensors and parameters.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hf/folder.h"
#include "model/config.h"
#include "model/hf_names.h"

namespace shoal {

// The folder's tensors are exactly those of the model, of the right shapes. Left out of account: buffers that
// old files hold (attention masks, rotary frequencies), and an output head that equals the embedding it is
// tied to. Throws UserError naming what is missing, what is too much, or what has another shape (at most a
// few each).
void check_tensors(const HfFolder& folder, const ModelConfig& config);

// A parameter's Hugging Face tensors.
struct HfParameter {
  Shape shape;
  std::vector<HfTensor> parts;
};
std::map<std::string, HfParameter> hf_parameters(const ModelConfig& config);

// Writes the whole parameter, in f32, from the folder; one of its parts is in memory beside it.
void read_parameter(const HfFolder& folder, const HfParameter& parameter, const View& values);

}  // namespace shoal
