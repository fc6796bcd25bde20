#include "spec/keys.h"

namespace shoal {
namespace {

std::vector<std::string> inits() {
  return {"small_init", "wang_init", "normal", "scaled_normal", "mitchell", "takase"};
}

}  // namespace

std::vector<Key> model_keys() {
  return {
      SHOAL_KEY(model.family, one_of({"gpt-neox", "llama"}), "",
                "Decoder family; it sets what is auto below."),
      SHOAL_KEY(model.preset, anything(), "",
                "Published shape to start from, such as pythia-70m; keys given beside it win."),
      SHOAL_KEY(model.hidden_size, at_least(1), "", "Width of the residual stream."),
      SHOAL_KEY(model.num_layers, at_least(1), "", "Decoder layers."),
      SHOAL_KEY(model.num_attention_heads, at_least(1), "", "Query heads."),
      SHOAL_KEY(model.num_key_value_heads, at_least(0), "", "Key-value heads; 0: as many as query heads."),
      SHOAL_KEY(model.head_dim, at_least(0), "", "Size of a head; 0: hidden_size / num_attention_heads."),
      SHOAL_KEY(model.intermediate_size, at_least(0), "",
                "Width of the feed-forward block; 0: 4 * hidden_size (a llama model must state it)."),
      SHOAL_KEY(model.vocab_size, at_least(0), "tokens",
                "Rows of the embedding; 0: the tokenizer's size rounded up to vocab_multiple."),
      SHOAL_KEY(model.vocab_multiple, at_least(1), "tokens",
                "What a vocabulary taken from the tokenizer is rounded up to."),
      SHOAL_KEY(model.norm, one_of({"", "layernorm", "rmsnorm"}), "", "Normalisation."),
      SHOAL_KEY(model.norm_eps, above(0), "", "Added to the variance (or the mean square) in the norms."),
      SHOAL_KEY(model.norm_unit_offset, anything(), "", "RMSNorm multiplies by 1 + weight, as Gemma does."),
      SHOAL_KEY(model.activation, one_of({"", "gelu", "gelu_tanh", "relu", "swiglu", "geglu", "geglu_tanh"}),
                "", "Activation of the feed-forward block; those ending in glu are gated."),
      SHOAL_KEY(model.parallel_residual, anything(), "",
                "Attention and feed-forward read the same input: x + attn(norm(x)) + mlp(norm(x))."),
      SHOAL_KEY(model.rotary_fraction, or_value(between(0, 1), -1), "",
                "Share of each head that rotary embeddings turn; -1: the family's (gpt-neox 0.25, llama 1)."),
      SHOAL_KEY(model.rotary_base, above(0), "", "Base of the rotary frequencies."),
      SHOAL_KEY(model.rotary_interleaved, anything(), "",
                "Rotary pairs are neighbours (0,1) (2,3); else halves (0,n/2) (1,n/2+1)."),
      SHOAL_KEY(model.attention_bias, anything(), "", "Biases in the attention's projections."),
      SHOAL_KEY(model.mlp_bias, anything(), "", "Biases in the feed-forward block."),
      SHOAL_KEY(model.tie_embeddings, anything(), "", "The output head shares the embedding's weights."),
      SHOAL_KEY(model.embedding_scale, at_least(0), "",
                "Factor on the embedding's output; 0: sqrt(hidden_size)."),
      SHOAL_KEY(model.init, one_of(inits()), "", "Init rule of the matrices and the embedding."),
      SHOAL_KEY(model.output_init, one_of(inits()), "",
                "Init rule of the projections back into the residual stream."),
      SHOAL_KEY(model.init_std, above(0), "", "Standard deviation of the rules normal and scaled_normal."),
  };
}

}  // namespace shoal
