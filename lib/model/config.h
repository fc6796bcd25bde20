// The resolved shape and switches of a decoder: a model section with the family's defaults filled in.
#pragma once

#include <cstdint>
#include <string>

#include "ops/ops.h"
#include "spec/run_spec.h"

namespace shoal {

struct ModelConfig {
  std::string family;
  int64_t hidden_size = 0, num_layers = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0,
          intermediate_size = 0;
  int64_t vocab_size = 0;  // padded: rows of the embedding table
  bool rmsnorm = false, norm_unit_offset = false;
  float norm_eps = 1e-5f;
  Activation activation = Activation::gelu;
  bool gated = false;  // activation(gate) * up
  bool parallel_residual = false;
  int64_t rotary_dims = 0;
  double rotary_base = 10000;
  bool rotary_interleaved = false;
  bool attention_bias = false, mlp_bias = false, norm_bias = false;
  bool tie_embeddings = false;
  float embedding_scale = 1;
  std::string init, output_init;
  double init_std = 0.02;

  int64_t parameter_count() const;           // all
  int64_t non_embedding_parameters() const;  // without the input embedding and, if untied, the output head
  // Model FLOPs of one token in training: 6 a parameter without the input embedding, plus attention
  // 12 * layers * heads * head_dim * seq_length (no causal halving; Chowdhery et al. 2022, appendix B).
  double train_flops_per_token(int64_t seq_length) const;
};

// Throws UserError for shapes that cannot be built. tokenizer_vocab is used where vocab_size is 0.
ModelConfig resolve_model(const ModelSection& section, int64_t tokenizer_vocab);

}  // namespace shoal
