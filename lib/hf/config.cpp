#include "hf/config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "hf/config_fields.h"

namespace shoal {
namespace {

using nlohmann::json;

constexpr int64_t max_width = int64_t{1} << 20, max_layers = 100'000, max_vocab = int64_t{1} << 28,
                  max_length = int64_t{1} << 40;

// What transformers calls the activations; several names of one function may stand in a row's way in.
struct ActivationRow {
  const char* hf;
  const char* plain;
  const char* gated;
};
constexpr ActivationRow activations[] = {
    {"gelu", "gelu", "geglu"},
    {"gelu_new", "gelu_tanh", "geglu_tanh"},
    {"gelu_pytorch_tanh", "gelu_tanh", "geglu_tanh"},
    {"gelu_fast", "gelu_tanh", "geglu_tanh"},
    {"relu", "relu", ""},
    {"silu", "", "swiglu"},
    {"swish", "", "swiglu"},
};

std::string activation_from_hf(const JsonFields& fields, const char* fallback, bool gated) {
  const std::string name = fields.text("hidden_act").value_or(fallback);
  std::vector<std::string> known;
  for (const ActivationRow& row : activations) {
    const char* ours = gated ? row.gated : row.plain;
    if (*ours == '\0') continue;
    if (name == row.hf) return ours;
    known.emplace_back(row.hf);
  }
  fields.fail("hidden_act", "this activation is not supported", join_choices(known));
}

std::string activation_to_hf(const ModelSection& model, bool gated) {
  for (const ActivationRow& row : activations) {
    if (model.activation == (gated ? row.gated : row.plain)) return row.hf;
  }
  throw UserError(Problem{.what = "the Hugging Face class has no such activation",
                          .where = "model.activation",
                          .value = model.activation});
}

// Rotary base and fraction, in either generation's spelling.
void read_rotary(const JsonFields& fields, const char* old_base, const char* old_fraction,
                 double default_fraction, ModelSection& model) {
  model.rotary_base = fields.number(old_base, 1e-6, 1e12).value_or(10000);
  model.rotary_fraction = old_fraction != nullptr
                              ? fields.number(old_fraction, 0, 1).value_or(default_fraction)
                              : default_fraction;
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!fields.has(key)) continue;
    const json& value = fields.object()[key];
    if (!value.is_object()) fields.fail(key, "the value is not an object", "");
    const JsonFields rope(value, fields.file() + ": " + key);
    for (const char* name : {"rope_type", "type"}) {
      if (rope.text(name).value_or("default") == "default") continue;
      fields.fail(key, "scaled rotary embeddings are not supported", "rope_type default",
                  "the model would give other logits without the scaling");
    }
    model.rotary_base = rope.number("rope_theta", 1e-6, 1e12).value_or(model.rotary_base);
    model.rotary_fraction = rope.number("partial_rotary_factor", 0, 1).value_or(model.rotary_fraction);
  }
}

void read_neox(const JsonFields& fields, ModelSection& m) {
  m.norm = "layernorm";
  m.norm_eps = fields.number("layer_norm_eps", 1e-30, 1).value_or(1e-5);
  m.activation = activation_from_hf(fields, "gelu", false);
  m.parallel_residual = fields.truth("use_parallel_residual").value_or(true);
  read_rotary(fields, "rotary_emb_base", "rotary_pct", 0.25, m);
  m.attention_bias = fields.truth("attention_bias").value_or(true);
  m.mlp_bias = true;
  m.num_key_value_heads = m.num_attention_heads;
  m.head_dim = m.hidden_size / m.num_attention_heads;
  if (m.hidden_size % m.num_attention_heads != 0)
    fields.fail("num_attention_heads", "the heads do not divide hidden_size", "a divisor of hidden_size");
}

void read_llama(const JsonFields& fields, ModelSection& m) {
  m.norm = "rmsnorm";
  m.norm_eps = fields.number("rms_norm_eps", 1e-30, 1).value_or(1e-6);
  m.activation = activation_from_hf(fields, "silu", true);
  m.parallel_residual = false;
  read_rotary(fields, "rope_theta", nullptr, 1, m);
  if (m.rotary_fraction != 1)
    fields.fail("rope_parameters", "a Llama with partial rotary embeddings is not supported", "1");
  m.attention_bias = fields.truth("attention_bias").value_or(false);
  m.mlp_bias = fields.truth("mlp_bias").value_or(false);
  m.num_key_value_heads = fields.integer("num_key_value_heads", 1, max_width).value_or(m.num_attention_heads);
  if (m.num_attention_heads % m.num_key_value_heads != 0)
    fields.fail("num_key_value_heads", "they do not divide the heads", "a divisor of num_attention_heads");
  m.head_dim = fields.integer("head_dim", 1, max_width).value_or(m.hidden_size / m.num_attention_heads);
  if (!fields.has("head_dim") && m.hidden_size % m.num_attention_heads != 0)
    fields.fail("num_attention_heads", "the heads do not divide hidden_size", "a divisor of hidden_size");
}

void check_dropout(const JsonFields& fields, HfConfig& config) {
  for (const char* key : {"attention_dropout", "hidden_dropout"}) {
    if (fields.number(key, 0, 1).value_or(0) > 0)
      config.notes.push_back(fmt::format("{} is not used: there is no dropout here", key));
  }
}

std::string family_of(const JsonFields& fields) {
  const json& object = fields.object();
  std::string name = "GPTNeoXForCausalLM";
  const std::string type = fields.text("model_type").value_or("");
  if (fields.has("architectures")) {
    const json& list = object["architectures"];
    if (!list.is_array() || list.size() != 1 || !list[0].is_string())
      fields.fail("architectures", "one class is needed", "GPTNeoXForCausalLM or LlamaForCausalLM");
    name = list[0].get<std::string>();
  } else {
    name = type == "gpt_neox" ? "GPTNeoXForCausalLM" : type == "llama" ? "LlamaForCausalLM" : "";
  }
  if (name == "GPTNeoXForCausalLM") return "gpt-neox";
  if (name == "LlamaForCausalLM") return "llama";
  fields.fail(fields.has("architectures") ? "architectures" : "model_type",
              "this architecture is not supported", "GPTNeoXForCausalLM or LlamaForCausalLM");
}

void refuse(const char* key, const std::string& value, const char* family) {
  throw UserError(
      Problem{.what = fmt::format("the Hugging Face class of {} cannot express this model", family),
              .where = key,
              .value = value});
}

// What neither class has a key for.
void check_expressible(const ModelSection& m) {
  const char* family = m.family.c_str();
  if (m.embedding_scale != 1) refuse("model.embedding_scale", fmt::format("{}", m.embedding_scale), family);
  if (m.norm_unit_offset) refuse("model.norm_unit_offset", "true", family);
  if (m.rotary_interleaved) refuse("model.rotary_interleaved", "true", family);
  if (m.family == "gpt-neox") {
    if (!m.mlp_bias.value_or(true)) refuse("model.mlp_bias", "false", family);
    if (m.head_dim > 0 && m.head_dim * m.num_attention_heads != m.hidden_size)
      refuse("model.head_dim", std::to_string(m.head_dim), family);
  } else if (m.rotary_fraction >= 0 && m.rotary_fraction != 1) {
    refuse("model.rotary_fraction", fmt::format("{}", m.rotary_fraction), family);
  }
}

}  // namespace

std::string vocabulary_tensor(const std::string& family) {
  return family == "gpt-neox" ? "gpt_neox.embed_in.weight" : "model.embed_tokens.weight";
}
std::string feed_forward_tensor(const std::string& family) {
  return family == "gpt-neox" ? "gpt_neox.layers.0.mlp.dense_h_to_4h.weight"
                              : "model.layers.0.mlp.up_proj.weight";
}

HfConfig read_hf_config(const std::string& text, const std::string& file) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) throw UserError(Problem{.what = "the file is not a JSON object", .where = file});
  const JsonFields fields(object, file);
  HfConfig config;
  ModelSection& m = config.model;
  m.family = family_of(fields);
  if (fields.has("quantization_config"))
    fields.fail("quantization_config", "quantised weights are not supported", "weights in f32, bf16 or f16");
  m.hidden_size = fields.needed_integer("hidden_size", 1, max_width);
  m.num_layers = fields.needed_integer("num_hidden_layers", 1, max_layers);
  m.num_attention_heads = fields.needed_integer("num_attention_heads", 1, max_width);
  m.intermediate_size = fields.integer("intermediate_size", 1, max_width * 16).value_or(0);
  m.vocab_size = fields.integer("vocab_size", 1, max_vocab).value_or(0);
  m.tie_embeddings = fields.truth("tie_word_embeddings").value_or(false);
  m.init = "normal";
  m.output_init = "normal";
  m.init_std = fields.number("initializer_range", 1e-30, 1e6).value_or(0.02);
  m.family == "gpt-neox" ? read_neox(fields, m) : read_llama(fields, m);
  config.max_positions = fields.integer("max_position_embeddings", 1, max_length).value_or(2048);
  check_dropout(fields, config);
  return config;
}

std::string write_hf_config(const ModelSection& model, int64_t max_positions, const std::string& dtype,
                            const HfTokenIds& ids) {
  check_expressible(model);
  const bool neox = model.family == "gpt-neox";
  const int64_t kv_heads =
      model.num_key_value_heads > 0 ? model.num_key_value_heads : model.num_attention_heads;
  const int64_t head_dim =
      model.head_dim > 0 ? model.head_dim : model.hidden_size / model.num_attention_heads;
  const double fraction = model.rotary_fraction >= 0 ? model.rotary_fraction : neox ? 0.25 : 1.0;
  const auto id = [](int64_t token) { return token < 0 ? json(nullptr) : json(token); };
  ModelSection named = model;
  if (named.activation.empty()) named.activation = neox ? "gelu" : "swiglu";

  json j = {
      {"architectures", {neox ? "GPTNeoXForCausalLM" : "LlamaForCausalLM"}},
      {"model_type", neox ? "gpt_neox" : "llama"},
      {"vocab_size", model.vocab_size},
      {"hidden_size", model.hidden_size},
      {"num_hidden_layers", model.num_layers},
      {"num_attention_heads", model.num_attention_heads},
      {"intermediate_size", model.intermediate_size > 0 ? model.intermediate_size : 4 * model.hidden_size},
      {"hidden_act", activation_to_hf(named, !neox)},
      {"max_position_embeddings", max_positions},
      {"initializer_range", model.init_std},
      {"use_cache", true},
      {"bos_token_id", id(ids.bos)},
      {"eos_token_id", id(ids.eos)},
      {"pad_token_id", nullptr},
      {"tie_word_embeddings", model.tie_embeddings},
      {"attention_bias", model.attention_bias.value_or(neox)},
      {"attention_dropout", 0.0},
      {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", model.rotary_base}}},
      {"rope_scaling", nullptr},
      {"torch_dtype", dtype},
      {"dtype", dtype}};
  if (neox) {
    j["rope_parameters"]["partial_rotary_factor"] = fraction;
    j["rotary_pct"] = fraction;
    j["rotary_emb_base"] = model.rotary_base;
    j["layer_norm_eps"] = model.norm_eps;
    j["use_parallel_residual"] = model.parallel_residual.value_or(true);
    j["hidden_dropout"] = 0.0;
    j["classifier_dropout"] = 0.1;
  } else {
    j["rope_theta"] = model.rotary_base;
    j["rms_norm_eps"] = model.norm_eps;
    j["num_key_value_heads"] = kv_heads;
    j["head_dim"] = head_dim;
    j["mlp_bias"] = model.mlp_bias.value_or(false);
    j["pretraining_tp"] = 1;
  }
  return j.dump(2) + "\n";
}

}  // namespace shoal
