// Guessing which key somebody meant.
#include <algorithm>

#include "base/text.h"
#include "spec/key_table.h"

namespace shoal {
namespace {

// What other programs call our keys.
struct Synonym {
  const char* other;
  const char* path;
};
constexpr Synonym kSynonyms[] = {
    {"accumulation", "batch.global"},
    {"activation_checkpointing", "precision.recompute"},
    {"adam_eps", "optimizer.eps"},
    {"batch_size", "batch.global"},
    {"beta1", "optimizer.betas"},
    {"beta2", "optimizer.betas"},
    {"block_size", "data.seq_length"},
    {"bf16", "precision.compute"},
    {"clip_grad", "optimizer.clip_norm"},
    {"context_length", "data.seq_length"},
    {"d_model", "model.hidden_size"},
    {"data_path", "data.train"},
    {"dtype", "precision.compute"},
    {"eval_interval", "eval.every"},
    {"eval_iters", "eval.batches"},
    {"ffn_hidden_size", "model.intermediate_size"},
    {"fp16", "precision.compute"},
    {"global_batch_size", "batch.global"},
    {"grad_clip", "optimizer.clip_norm"},
    {"gradient_accumulation_steps", "batch.global"},
    {"gradient_checkpointing", "precision.recompute"},
    {"gradient_clipping", "optimizer.clip_norm"},
    {"hidden_act", "model.activation"},
    {"init_method", "model.init"},
    {"learning_rate", "optimizer.lr"},
    {"load", "run.fork"},
    {"log_interval", "log.every"},
    {"lr_decay_iters", "schedule.decay_steps"},
    {"lr_decay_style", "schedule.name"},
    {"max_grad_norm", "optimizer.clip_norm"},
    {"max_iters", "run.steps"},
    {"max_lr", "optimizer.lr"},
    {"max_position_embeddings", "data.seq_length"},
    {"max_seq_len", "data.seq_length"},
    {"max_steps", "run.steps"},
    {"micro_batch_size", "batch.micro"},
    {"n_embd", "model.hidden_size"},
    {"n_head", "model.num_attention_heads"},
    {"n_heads", "model.num_attention_heads"},
    {"n_layer", "model.num_layers"},
    {"n_layers", "model.num_layers"},
    {"no_weight_tying", "model.tie_embeddings"},
    {"num_gpus", "parallel.data"},
    {"num_heads", "model.num_attention_heads"},
    {"num_kv_heads", "model.num_key_value_heads"},
    {"output_dir", "run.dir"},
    {"output_layer_init_method", "model.output_init"},
    {"rms_norm_eps", "model.norm_eps"},
    {"rope_theta", "model.rotary_base"},
    {"rotary_pct", "model.rotary_fraction"},
    {"save", "run.dir"},
    {"save_interval", "checkpoint.every"},
    {"save_steps", "checkpoint.every"},
    {"sequence_length", "data.seq_length"},
    {"tie_word_embeddings", "model.tie_embeddings"},
    {"time_limit", "run.time_limit_minutes"},
    {"total_steps", "run.steps"},
    {"train_batch_size", "batch.global"},
    {"train_data_paths", "data.train"},
    {"train_iters", "run.steps"},
    {"train_micro_batch_size_per_gpu", "batch.micro"},
    {"train_steps", "run.steps"},
    {"valid_data_paths", "data.valid"},
    {"vocab_file", "data.tokenizer"},
    {"warmup_ratio", "schedule.warmup"},
    {"warmup_steps", "schedule.warmup"},
    {"wd", "optimizer.weight_decay"},
};

}  // namespace

std::string likely_key(const std::string& written) {
  const std::string path = underscored(written);
  const size_t dot = path.rfind('.');
  const std::string section = dot == std::string::npos ? "" : path.substr(0, dot);
  const std::string name = path.substr(dot + 1);

  // Without a section only sections are near by; a key is near by within its own section.
  std::vector<std::string> siblings, sections, names, paths;
  for (const Key& key : key_table()) {
    if (key.section() == section) siblings.push_back(key.name());
    names.push_back(key.name());
    paths.push_back(key.path);
  }
  for (const Section& entry : section_table()) sections.push_back(entry.path);

  const auto in_section = [&](const std::string& key) { return section.empty() ? key : section + "." + key; };
  const std::string sibling = nearest(name, siblings);
  if (!sibling.empty() && edit_distance(name, sibling) <= 1) return in_section(sibling);
  const auto same = std::find(names.begin(), names.end(), name);
  if (same != names.end()) return paths[size_t(same - names.begin())];
  for (const Synonym& synonym : kSynonyms) {
    if (name == synonym.other) return synonym.path;
  }
  if (!sibling.empty()) return in_section(sibling);
  if (const std::string top = section.empty() ? nearest(path, sections) : ""; !top.empty()) return top;
  const std::string other = nearest(name, names);
  if (other.empty()) return "";
  return paths[size_t(std::find(names.begin(), names.end(), other) - names.begin())];
}

}  // namespace shoal
