#include <cmath>

#include "spec/checks.h"

namespace shoal {
namespace {

void check_heads(const ModelSection& m, std::vector<Conflict>& out) {
  if (m.num_attention_heads < 1 || m.hidden_size < 1) return;  // the key table reports these
  if (m.head_dim == 0 && m.hidden_size % m.num_attention_heads != 0) {
    out.push_back(
        {{"model.num_attention_heads", "model.hidden_size"},
         {.what = "the heads do not divide the hidden size evenly",
          .value = fmt::format("hidden_size {} / num_attention_heads {} = {:.2f}", m.hidden_size,
                               m.num_attention_heads, double(m.hidden_size) / double(m.num_attention_heads)),
          .allowed = "a divisor of hidden_size, or any number with model.head_dim set"}});
  }
  if (m.num_key_value_heads > 0 && m.num_attention_heads % m.num_key_value_heads != 0) {
    out.push_back({{"model.num_key_value_heads", "model.num_attention_heads"},
                   {.what = "the key-value heads do not divide the attention heads evenly",
                    .value = fmt::format("num_attention_heads {} / num_key_value_heads {}",
                                         m.num_attention_heads, m.num_key_value_heads),
                    .allowed = "a divisor of num_attention_heads, or 0 for as many as attention heads"}});
  }
}

void check_rotary(const ModelSection& m, std::vector<Conflict>& out) {
  if (m.num_attention_heads < 1 || m.rotary_fraction > 1) return;
  if (m.head_dim == 0 && m.hidden_size % m.num_attention_heads != 0) return;  // check_heads says so
  const int64_t dims = resolved_rotary_dims(m);
  if (dims % 2 == 0) return;
  out.push_back(
      {{"model.rotary_fraction", "model.head_dim", "model.num_attention_heads", "model.hidden_size"},
       {.what = "rotary embeddings turn pairs, but this gives an odd number of dims",
        .value = fmt::format("head_dim {} * rotary_fraction = {} dims", resolved_head_dim(m), dims),
        .allowed = "a fraction of head_dim that is even"}});
}

}  // namespace

int64_t resolved_head_dim(const ModelSection& m) {
  return m.head_dim > 0 ? m.head_dim : m.hidden_size / m.num_attention_heads;
}

int64_t resolved_rotary_dims(const ModelSection& m) {
  const double family = m.family == "gpt-neox" ? 0.25 : 1.0;
  const double fraction = m.rotary_fraction < 0 ? family : m.rotary_fraction;
  return int64_t(std::floor(double(resolved_head_dim(m)) * fraction + 1e-9));
}

std::vector<Conflict> model_conflicts(const ModelSection& m) {
  std::vector<Conflict> out;
  check_heads(m, out);
  check_rotary(m, out);
  if (m.family == "llama" && m.intermediate_size == 0) {
    out.push_back(
        {{"model.intermediate_size", "model.family"},
         {.what = "a llama model must state model.intermediate_size",
          .allowed = "the width of the gated feed-forward block; Llama uses about 8/3 of hidden_size"}});
  }
  if (m.norm_unit_offset && m.norm != "rmsnorm" && (m.norm == "layernorm" || m.family == "gpt-neox")) {
    out.push_back({{"model.norm_unit_offset", "model.norm", "model.family"},
                   {.what = "norm_unit_offset is for rmsnorm, but the model uses layernorm",
                    .hint = "set model.norm: rmsnorm, or leave norm_unit_offset out"}});
  }
  return out;
}

}  // namespace shoal
