#include "model/hf_names.h"

#include "base/error.h"

namespace shoal {
namespace {

class Names {
 public:
  explicit Names(const ModelConfig& config) : config_(config) {}

  // A tensor that is a whole parameter.
  void whole(const std::string& hf, const std::string& ours, const Shape& shape, const Shape& hf_shape) {
    part(hf, ours, {zeros(shape), shape}, hf_shape);
  }
  void whole(const std::string& hf, const std::string& ours, const Shape& shape) {
    whole(hf, ours, shape, shape);
  }
  void part(const std::string& hf, const std::string& ours, const Slab& slab, const Shape& hf_shape) {
    SHOAL_CHECK(slab.shape.numel() == hf_shape.numel());
    tensors_.push_back({hf, hf_shape, ours, slab});
  }
  void norm(const std::string& hf, const std::string& ours) {
    whole(hf + ".weight", ours + ".weight", {config_.hidden_size});
    if (config_.norm_bias) whole(hf + ".bias", ours + ".bias", {config_.hidden_size});
  }
  std::vector<HfTensor> take() { return std::move(tensors_); }

 private:
  static Shape zeros(Shape shape) {
    for (int i = 0; i < shape.rank(); ++i) shape[i] = 0;
    return shape;
  }
  const ModelConfig& config_;
  std::vector<HfTensor> tensors_;
};

[[noreturn]] void no_form(const ModelConfig& config, const std::string& why) {
  throw UserError(
      {.what = fmt::format("this {} model has no form among the Hugging Face classes", config.family),
       .where = "",
       .value = why,
       .allowed = "",
       .hint = ""});
}

void neox_layer(Names& names, const ModelConfig& c, const std::string& hf, const std::string& ours) {
  const int64_t H = c.hidden_size, A = c.num_heads, D = c.head_dim, F = c.intermediate_size;
  names.norm(hf + "input_layernorm", ours + "norm1");
  names.whole(hf + "attention.query_key_value.weight", ours + "attention.qkv.weight", {A, 3, D, H},
              {A * 3 * D, H});
  if (c.attention_bias) {
    names.whole(hf + "attention.query_key_value.bias", ours + "attention.qkv.bias", {A, 3, D}, {A * 3 * D});
  }
  names.whole(hf + "attention.dense.weight", ours + "attention.output.weight", {H, A, D}, {H, A * D});
  if (c.attention_bias) names.whole(hf + "attention.dense.bias", ours + "attention.output.bias", {H});
  names.norm(hf + "post_attention_layernorm", ours + "norm2");
  names.whole(hf + "mlp.dense_h_to_4h.weight", ours + "mlp.up.weight", {F, H});
  if (c.mlp_bias) names.whole(hf + "mlp.dense_h_to_4h.bias", ours + "mlp.up.bias", {F});
  names.whole(hf + "mlp.dense_4h_to_h.weight", ours + "mlp.down.weight", {H, F});
  if (c.mlp_bias) names.whole(hf + "mlp.dense_4h_to_h.bias", ours + "mlp.down.bias", {H});
}

void llama_layer(Names& names, const ModelConfig& c, const std::string& hf, const std::string& ours) {
  const int64_t H = c.hidden_size, G = c.num_kv_heads, R = c.num_heads / G, D = c.head_dim,
                F = c.intermediate_size;
  names.norm(hf + "input_layernorm", ours + "norm1");
  // The heads `first` .. `first + count - 1` of every group.
  const auto heads = [&](const std::string& projection, int64_t first, int64_t count) {
    names.part(hf + "self_attn." + projection + ".weight", ours + "attention.qkv.weight",
               {{0, first, 0, 0}, {G, count, D, H}}, {G * count * D, H});
    if (!c.attention_bias) return;
    names.part(hf + "self_attn." + projection + ".bias", ours + "attention.qkv.bias",
               {{0, first, 0}, {G, count, D}}, {G * count * D});
  };
  heads("q_proj", 0, R);
  heads("k_proj", R, 1);
  heads("v_proj", R + 1, 1);
  names.whole(hf + "self_attn.o_proj.weight", ours + "attention.output.weight", {H, G, R * D},
              {H, G * R * D});
  if (c.attention_bias) names.whole(hf + "self_attn.o_proj.bias", ours + "attention.output.bias", {H});
  names.norm(hf + "post_attention_layernorm", ours + "norm2");
  const auto gate_up = [&](const std::string& projection, int64_t index) {
    names.part(hf + "mlp." + projection + ".weight", ours + "mlp.up.weight", {{index, 0, 0}, {1, F, H}},
               {F, H});
    if (!c.mlp_bias) return;
    names.part(hf + "mlp." + projection + ".bias", ours + "mlp.up.bias", {{index, 0}, {1, F}}, {F});
  };
  gate_up("gate_proj", 0);
  gate_up("up_proj", 1);
  names.whole(hf + "mlp.down_proj.weight", ours + "mlp.down.weight", {H, F});
  if (c.mlp_bias) names.whole(hf + "mlp.down_proj.bias", ours + "mlp.down.bias", {H});
}

}  // namespace

std::vector<HfTensor> hf_tensors(const ModelConfig& config) {
  const bool neox = config.family == "gpt-neox";
  if (neox && config.num_kv_heads != config.num_heads) no_form(config, "grouped-query heads");
  if (neox && (config.gated || config.rmsnorm))
    no_form(config, config.gated ? "gated activation" : "RMSNorm");
  if (!neox && !config.gated) no_form(config, "activation without a gate");
  if (!neox && (!config.rmsnorm || config.parallel_residual)) {
    no_form(config, config.rmsnorm ? "parallel residual" : "LayerNorm");
  }

  Names names(config);
  const Shape vocabulary{config.vocab_size, config.hidden_size};
  names.whole(neox ? "gpt_neox.embed_in.weight" : "model.embed_tokens.weight", "embedding.weight",
              vocabulary);
  for (int64_t i = 0; i < config.num_layers; ++i) {
    const std::string ours = fmt::format("layers.{}.", i);
    neox ? neox_layer(names, config, "gpt_neox." + ours, ours)
         : llama_layer(names, config, "model." + ours, ours);
  }
  names.norm(neox ? "gpt_neox.final_layer_norm" : "model.norm", "final_norm");
  if (!config.tie_embeddings)
    names.whole(neox ? "embed_out.weight" : "lm_head.weight", "head.weight", vocabulary);
  return names.take();
}

}  // namespace shoal
