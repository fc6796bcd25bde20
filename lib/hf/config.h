// config.json of GPTNeoXForCausalLM and LlamaForCausalLM, to and from the model section of a spec.
// Sources: transformers' configuration_gpt_neox.py and configuration_llama.py, versions 4 and 5 (5 moved
// rotary_pct, rotary_emb_base and rope_theta into rope_parameters; both spellings are read and written).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/run_spec.h"

namespace shoal {

struct HfConfig {
  ModelSection model;              // every key set, so that it does not depend on defaults here
  int64_t max_positions = 2048;    // max_position_embeddings
  std::vector<std::string> notes;  // what a user should know: values that are not used here, and such
};

// The name of the tensor that tells vocab_size, and the one that tells intermediate_size.
std::string vocabulary_tensor(const std::string& family);
std::string feed_forward_tensor(const std::string& family);

// text: of config.json; file: its path, for messages. vocab_size and intermediate_size are what the file
// says, 0 where it says nothing. Throws UserError for another architecture and for whatever would give other
// logits.
HfConfig read_hf_config(const std::string& text, const std::string& file);

struct HfTokenIds {
  int64_t bos = -1, eos = -1;  // -1: none
};

// Every key that the class has. dtype: "float32", "bfloat16" or "float16". Throws UserError for a model that
// the classes cannot express.
std::string write_hf_config(const ModelSection& model, int64_t max_positions, const std::string& dtype,
                            const HfTokenIds& ids);

}  // namespace shoal
