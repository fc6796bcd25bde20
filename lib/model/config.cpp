#include "model/config.h"

#include <cmath>

#include "base/error.h"
#include "spec/checks.h"

namespace shoal {
namespace {

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

struct ActivationRule {
  const char* name;
  Activation kind;
  bool gated;
};
constexpr ActivationRule kActivations[] = {
    {"gelu", Activation::gelu, false}, {"gelu_tanh", Activation::gelu_tanh, false},
    {"relu", Activation::relu, false}, {"swiglu", Activation::silu, true},
    {"geglu", Activation::gelu, true}, {"geglu_tanh", Activation::gelu_tanh, true},
};

void set_activation(const std::string& name, ModelConfig& config) {
  for (const ActivationRule& rule : kActivations) {
    if (name != rule.name) continue;
    config.activation = rule.kind;
    config.gated = rule.gated;
    return;
  }
  throw UserError(Problem{.what = "unknown activation", .where = "model.activation", .value = name});
}

int64_t resolve_vocab(const ModelSection& section, int64_t tokenizer_vocab) {
  if (section.vocab_size == 0 && tokenizer_vocab == 0) {
    throw UserError(
        Problem{.what = "the vocabulary size is not known",
                .where = "model.vocab_size",
                .hint = "set model.vocab_size, or data.tokenizer so that it can be taken from there"});
  }
  if (section.vocab_size == 0) return round_up(tokenizer_vocab, section.vocab_multiple);
  if (section.vocab_size < tokenizer_vocab) {
    throw UserError(
        Problem{.what = "the vocabulary is smaller than the tokenizer's",
                .where = "model.vocab_size",
                .value = std::to_string(section.vocab_size),
                .allowed = fmt::format("{} or more; 0 for {}, the next multiple of model.vocab_multiple",
                                       tokenizer_vocab, round_up(tokenizer_vocab, section.vocab_multiple))});
  }
  return section.vocab_size;
}

// One attention block, or one feed-forward block: matrices and biases.
int64_t attention_parameters(const ModelConfig& c) {
  const int64_t qkv = (c.num_heads + 2 * c.num_kv_heads) * c.head_dim;
  const int64_t biases = c.attention_bias ? qkv + c.hidden_size : 0;
  return c.hidden_size * qkv + c.num_heads * c.head_dim * c.hidden_size + biases;
}

int64_t mlp_parameters(const ModelConfig& c) {
  const int64_t inputs = (c.gated ? 2 : 1) * c.intermediate_size;
  const int64_t biases = c.mlp_bias ? inputs + c.hidden_size : 0;
  return c.hidden_size * inputs + c.intermediate_size * c.hidden_size + biases;
}

}  // namespace

ModelConfig resolve_model(const ModelSection& section, int64_t tokenizer_vocab) {
  for (Conflict& conflict : model_conflicts(section)) {
    conflict.problem.where = conflict.keys.front();
    throw UserError(conflict.problem);
  }
  const bool neox = section.family == "gpt-neox";
  ModelConfig c;
  c.family = section.family;
  c.hidden_size = section.hidden_size;
  c.num_layers = section.num_layers;
  c.num_heads = section.num_attention_heads;
  c.num_kv_heads = section.num_key_value_heads > 0 ? section.num_key_value_heads : c.num_heads;
  c.head_dim = resolved_head_dim(section);
  c.intermediate_size = section.intermediate_size > 0 ? section.intermediate_size : 4 * c.hidden_size;
  c.vocab_size = resolve_vocab(section, tokenizer_vocab);
  c.rmsnorm = section.norm.empty() ? !neox : section.norm == "rmsnorm";
  c.norm_bias = !c.rmsnorm;
  c.norm_unit_offset = section.norm_unit_offset;
  c.norm_eps = float(section.norm_eps);
  set_activation(section.activation.empty() ? (neox ? "gelu" : "swiglu") : section.activation, c);
  c.parallel_residual = section.parallel_residual.value_or(neox);
  c.rotary_dims = resolved_rotary_dims(section);
  c.rotary_base = section.rotary_base;
  c.rotary_interleaved = section.rotary_interleaved;
  c.attention_bias = section.attention_bias.value_or(neox);
  c.mlp_bias = section.mlp_bias.value_or(neox);
  c.tie_embeddings = section.tie_embeddings;
  c.embedding_scale =
      float(section.embedding_scale == 0 ? std::sqrt(double(c.hidden_size)) : section.embedding_scale);
  c.init = section.init;
  c.output_init = section.output_init;
  c.init_std = section.init_std;
  return c;
}

int64_t ModelConfig::non_embedding_parameters() const {
  const int64_t norm = hidden_size * (norm_bias ? 2 : 1);
  return num_layers * (attention_parameters(*this) + mlp_parameters(*this) + 2 * norm) + norm;
}

int64_t ModelConfig::parameter_count() const {
  return non_embedding_parameters() + (tie_embeddings ? 1 : 2) * vocab_size * hidden_size;
}

double ModelConfig::train_flops_per_token(int64_t seq_length) const {
  // The output head multiplies whether or not it shares its weights with the embedding.
  const double products = double(non_embedding_parameters()) + double(vocab_size) * double(hidden_size);
  const double attention = double(num_layers) * double(num_heads) * double(head_dim) * double(seq_length);
  return 6 * products + 12 * attention;
}

}  // namespace shoal
