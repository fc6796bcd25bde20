// The tensors of Hugging Face's GPTNeoXForCausalLM and LlamaForCausalLM as parts of ours.
#pragma once

#include <string>
#include <vector>

#include "grid/grid.h"
#include "model/config.h"

namespace shoal {

// One tensor there is one rectangular part of one parameter here, in the same order of elements:
// query_key_value of GPT-NeoX is the whole qkv weight, q_proj of Llama its query rows.
struct HfTensor {
  std::string hf_name;  // "gpt_neox.layers.0.attention.query_key_value.weight"
  Shape hf_shape;
  std::string parameter;  // "layers.0.attention.qkv.weight"
  Slab slab;              // of the parameter's global shape; holds hf_shape's elements
};

// All tensors of a model, in the order of ours; each element of each parameter belongs to exactly one of
// them. A tied output head is not listed. Throws UserError for a model that has no such form there (for
// example a gpt-neox with grouped-query heads).
std::vector<HfTensor> hf_tensors(const ModelConfig& config);

}  // namespace shoal
