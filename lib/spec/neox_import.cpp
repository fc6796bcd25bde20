#include "spec/neox_import.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "spec/key_table.h"
#include "spec/load.h"
#include "spec/neox_values.h"
#include "spec/scalar.h"
#include "spec/value.h"

namespace shoal {
namespace {

constexpr const char* by_default = "GPT-NeoX's default";
constexpr const char* published_saves = "0,1,2,4,8,16,32,64,128,256,512";

class Importer {
 public:
  Importer(const std::vector<std::string>& files, int64_t data_ranks) : data_ranks_(data_ranks) {
    for (const std::string& file : files) values_.add(file);
  }

  NeoxImport run() {
    shape();
    residual_and_norm();
    activation();
    init();
    vocabulary();
    optimizer();
    schedule();
    batch();
    precision();
    data();
    saving();
    without_effect();
    result_.left_out = values_.unused();
    result_.yaml = write();
    return std::move(result_);
  }

 private:
  void set(const std::string& key, const std::string& value, const std::string& origin) {
    words_.push_back(key + "=" + value);
    origins_[key] = origin;
  }
  static std::string origin_of(const NeoxValue& value) {
    return fmt::format("{} {}", value.where, value.name);
  }
  static std::string text_of(const YamlNode& node) {
    return parse_number(node.text) ? node.text : quoted_if_needed(node.text);
  }
  // Under another name here; the fallback, if there is one, is GPT-NeoX's.
  bool copy(const std::string& name, const std::string& key, const std::string& fallback = "") {
    if (const NeoxValue* value = values_.take(name)) {
      set(key, text_of(value->node), origin_of(*value));
      return true;
    }
    if (!fallback.empty()) set(key, fallback, by_default);
    return false;
  }
  void copy_truth(const std::string& name, const std::string& key, bool fallback, bool invert = false) {
    const NeoxValue* value = values_.take(name);
    const bool truth = values_.truth(name).value_or(fallback) != invert;
    set(key, truth ? "true" : "false", value != nullptr ? origin_of(*value) : by_default);
  }
  // A word that must be one of a few, each with its name here.
  std::string choose(const std::string& name, const std::string& fallback,
                     const std::map<std::string, std::string>& choices, std::string* origin = nullptr) {
    const NeoxValue* value = values_.take(name);
    const auto found = choices.find(value != nullptr ? value->node.text : fallback);
    if (origin != nullptr) *origin = value != nullptr ? origin_of(*value) : by_default;
    if (found != choices.end()) return found->second;
    std::vector<std::string> allowed;
    for (const auto& [word, here] : choices) allowed.push_back(word);
    if (value == nullptr)
      throw UserError(
          fmt::format("{} is not given, and GPT-NeoX's default {} cannot be trained here; it must be {}",
                      name, fallback, join_choices(allowed)));
    bad_neox_value(*value, "cannot be trained here", join_choices(allowed));
  }
  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  void shape() {
    set("model.family", "gpt-neox", "");
    for (const char* name : {"hidden_size", "num_layers", "num_attention_heads"}) {
      if (!copy(name, std::string("model.") + name))
        throw UserError(
            fmt::format("{} is not given: is this a whole configuration? Several files are merged", name));
    }
    const int64_t hidden = *values_.integer("hidden_size"), layers = *values_.integer("num_layers");
    const int64_t heads = *values_.integer("num_attention_heads");
    if (heads < 1 || hidden % heads != 0) {
      bad_neox_value(
          *values_.take("num_attention_heads"), fmt::format("hidden-size {} is not a multiple of it", hidden),
          "a divisor of hidden-size",
          layers > 0 && hidden % layers == 0
              ? fmt::format(
                    "num-layers {} ({}) and num-attention-heads {} look swapped: write {} layers of {} heads",
                    layers, values_.take("num_layers")->where, heads, heads, layers)
              : "");
    }
    copy("num_kv_heads", "model.num_key_value_heads");
    copy("intermediate_size", "model.intermediate_size");
    copy("seq_length", "data.seq_length");
    values_.take("max_position_embeddings");  // rotary positions have no end
    choose("pos_emb", "learned", {{"rotary", ""}});
    copy("rotary_pct", "model.rotary_fraction", "1");
    copy("rotary_emb_base", "model.rotary_base", "10000");
  }

  void residual_and_norm() {
    std::string origin;
    const std::string norm =
        choose("norm", "layernorm", {{"layernorm", "layernorm"}, {"rmsnorm", "rmsnorm"}}, &origin);
    set("model.norm", norm, origin);
    if (norm == "rmsnorm") {
      copy("rms_norm_epsilon", "model.norm_eps", "1e-8");
    } else {
      copy("layernorm_epsilon", "model.norm_eps", "1e-5");
    }
    copy_truth("gpt_j_residual", "model.parallel_residual", false);
    if (values_.truth("gpt_j_tied").value_or(false))
      bad_neox_value(*values_.take("gpt_j_tied"), "cannot be trained here",
                     "false: each branch has its own norm");
    copy_truth("no_weight_tying", "model.tie_embeddings", false, true);
    copy_truth("use_bias_in_attn_linear", "model.attention_bias", true);
    copy_truth("use_bias_in_mlp", "model.mlp_bias", true);
  }

  void activation() {
    std::string origin;
    const std::string name =
        choose("activation", "gelu",
               {{"gelu", "gelu"}, {"relu", "relu"}, {"swiglu", "swiglu"}, {"geglu", "geglu"}}, &origin);
    const NeoxValue* fusion = values_.take("bias_gelu_fusion");
    if (name != "gelu" || fusion == nullptr || !values_.truth("bias_gelu_fusion").value())
      return set("model.activation", name, origin);
    set("model.activation", "gelu_tanh", origin_of(*fusion));
    note(
        "bias-gelu-fusion computes the tanh form of GELU, so that is what the model was trained with; "
        "Hugging Face's "
        "\"gelu\" is the exact form and gives slightly other logits.");
  }

  void init() {
    const std::map<std::string, std::string> rules{{"small_init", "small_init"},
                                                   {"wang_init", "wang_init"},
                                                   {"normal", "normal"},
                                                   {"scaled_normal", "scaled_normal"}};
    std::string first, second;
    const std::string init = choose("init_method", "normal", rules, &first);
    const std::string output = choose("output_layer_init_method", "scaled_normal", rules, &second);
    set("model.init", init, first);
    set("model.output_init", output, second);
    copy("init_method_std", "model.init_std", "0.02");
    if (first != by_default && second != by_default) return;
    note(
        "an init method is not given, so GPT-NeoX took normal with 0.02, and 0.02 / sqrt(2 layers) for the "
        "projections "
        "back into the residual stream; so were the published 6.9B and 12B, unlike the smaller Pythias.");
  }

  void vocabulary() {
    const int64_t multiple = values_.integer("make_vocab_size_divisible_by").value_or(128);
    const NeoxValue* parallel = values_.take("model_parallel_size");
    const int64_t ranks = values_.integer("model_parallel_size").value_or(1);
    set("model.vocab_multiple", fmt::format("{}", multiple * ranks),
        fmt::format("{} times {}", multiple, parallel != nullptr ? origin_of(*parallel) : "1"));
    if (ranks > 1)
      note(fmt::format(
          "the vocabulary is padded to a multiple of {} because the run was cut over {} ranks; with it the "
          "number of parameters. The grid here is free: parallel.x, y, z and data.",
          multiple * ranks, ranks));
    values_.take("tokenizer_type");
    values_.take("merge_file");
    if (!copy("vocab_file", "data.tokenizer"))
      note("no vocab-file is given: set data.tokenizer, or model.vocab_size.");
  }

  void optimizer() {
    const NeoxValue* section = values_.take("optimizer");
    const YamlNode none;
    const YamlNode& node = section != nullptr ? section->node : none;
    const YamlNode* type = entry_of(node, "type");
    const std::string name = type != nullptr ? underscored(type->text) : "Adam";
    if (name != "Adam" && name != "AdamW" && name != "cpu_adam" && name != "sgd" && name != "SGD")
      bad_neox_value(*section, "cannot be trained here", "the type Adam, AdamW or SGD");
    set("optimizer.name", name == "sgd" || name == "SGD" ? "sgd" : "adamw",
        section != nullptr ? origin_of(*section) : by_default);
    if (const YamlNode* parameters = entry_of(node, "params")) {
      for (const auto& [key, value] : parameters->entries) {
        const std::string here = underscored(key.text);
        if (here == "lr" || here == "eps" || here == "momentum") {
          set("optimizer." + here, value.text, origin_of(*section));
        } else if (here == "betas" && value.items.size() == 2) {
          set("optimizer.betas", fmt::format("[{}, {}]", value.items[0].text, value.items[1].text),
              origin_of(*section));
        }
      }
    }
    copy("weight_decay", "optimizer.weight_decay", "0.01");
    copy("gradient_clipping", "optimizer.clip_norm", "1");
    set("optimizer.decay", "matrices", "GPT-NeoX decays no biases and no norms");
  }

  void schedule() {
    copy("train_iters", "run.steps");
    copy("lr_decay_iters", "schedule.decay_steps");
    std::string origin;
    const std::string style =
        choose("lr_decay_style", "linear",
               {{"cosine", "cosine"}, {"linear", "linear"}, {"constant", "constant"}}, &origin);
    set("schedule.name", style, origin);
    copy("warmup", "schedule.warmup", "0.01");
    copy("min_lr", "schedule.min_lr", "0");
    copy("seed", "run.seed", "1234");
  }

  void batch() {
    micro_ = values_.integer("train_micro_batch_size_per_gpu").value_or(1);
    const std::string steps = values_.take("gas") != nullptr ? "gas" : "gradient_accumulation_steps";
    const int64_t passes = values_.integer(steps).value_or(1), ranks = std::max<int64_t>(data_ranks_, 1);
    copy("train_micro_batch_size_per_gpu", "batch.micro", "1");
    global_ = values_.integer("train_batch_size").value_or(micro_ * passes * ranks);
    if (copy("train_batch_size", "batch.global")) return;
    set("batch.global", fmt::format("{}", global_),
        fmt::format("{} a rank * {} passes * {} data-parallel ranks", micro_, passes, ranks));
    if (data_ranks_ == 0)
      note(
          "the files do not say on how many data-parallel ranks the run was, so batch.global is that of one: "
          "give "
          "--data-ranks.");
  }

  void precision() {
    const NeoxValue *fp16 = values_.take("fp16"), *word = values_.take("precision"),
                    *bf16 = values_.take("bf16");
    const auto enabled = [](const NeoxValue* section) {
      const YamlNode* on = section != nullptr ? entry_of(section->node, "enabled") : nullptr;
      return on == nullptr || parse_truth(on->text).value_or(true);
    };
    const bool half = (fp16 != nullptr && enabled(fp16)) || (word != nullptr && word->node.text == "fp16");
    const bool brain =
        (bf16 != nullptr && enabled(bf16)) || (word != nullptr && word->node.text == "bfloat16");
    const NeoxValue* from = word != nullptr ? word : brain ? bf16 : half ? fp16 : nullptr;
    set("precision.compute", half || brain ? "bf16" : "f32", from != nullptr ? origin_of(*from) : by_default);
    if (half && !brain)
      note(
          "the run was in fp16 with a dynamic loss scale, which skips updates that overflow while the data "
          "goes on; "
          "here products are in bf16, without a scale or such skips, so losses differ in the third digit or "
          "so.");
    copy_truth("checkpoint_activations", "precision.recompute", false);
  }

  // "[{path: a, weight: 0.5}, {path: b}]"
  std::string sources(const NeoxValue& paths, const NeoxValue* weights) const {
    std::vector<std::string> items;
    for (size_t i = 0; i < paths.node.items.size(); ++i) {
      std::string item = "path: " + quoted_if_needed(paths.node.items[i].text);
      if (weights != nullptr && i < weights->node.items.size())
        item += ", weight: " + weights->node.items[i].text;
      items.push_back("{" + item + "}");
    }
    return "[" + join_choices(items, ", ") + "]";
  }

  void data() {
    set("data.order", "gpt-neox", "");
    values_.take("data_impl");
    bool any = false;
    for (const char* split : {"train", "valid", "test"}) {
      const NeoxValue* paths = values_.take(fmt::format("{}_data_paths", split));
      const NeoxValue* weights = values_.take(fmt::format("{}_data_weights", split));
      if (paths == nullptr) continue;
      any = true;
      set(fmt::format("data.{}", split), sources(*paths, weights), origin_of(*paths));
    }
    if (const NeoxValue* path = values_.take("data_path"); path != nullptr && !any) {
      any = true;
      set("data.train", fmt::format("[{{path: {}}}]", quoted_if_needed(path->node.text)), origin_of(*path));
      copy("split", "data.split", "\"969,30,1\"");
    }
    if (!any) note("no data paths are given: set data.train.");
  }

  void saving() {
    copy("eval_interval", "eval.every", "1000");
    const int64_t batches =
        values_.integer("eval_iters").value_or(100) * global_ / std::max<int64_t>(micro_, 1);
    set("eval.batches", fmt::format("{}", std::max<int64_t>(batches, 1)),
        "eval-iters global batches, in passes");
    const NeoxValue* extra = values_.take("extra_save_iters");
    const std::string every =
        values_.take("save_interval") != nullptr ? "save_interval" : "checkpoint_factor";
    std::string saves;
    if (extra != nullptr) {
      for (const YamlNode& item : extra->node.items) saves += (saves.empty() ? "" : ",") + item.text;
    }
    if (saves == published_saves && values_.integer(every) == 1000) {
      set("checkpoint.schedule", "pythia", origin_of(*extra));
      set("checkpoint.every", "0", origin_of(*extra));
    } else {
      copy(every, "checkpoint.every");
      if (extra != nullptr)
        note(fmt::format("extra-save-iters ({}) has no equivalent but checkpoint.schedule: pythia.",
                         extra->where));
    }
    copy("keep_last_n_checkpoints", "checkpoint.keep_last");
    copy("log_interval", "log.every");
  }

  // [[["flash"], 36]]: kinds of attention that take turns, and for how many layers.
  void attention() {
    const NeoxValue* attention = values_.take("attention_config");
    if (attention == nullptr) return;
    int64_t covered = 0;
    bool all = false;
    for (const YamlNode& group : attention->node.items) {
      if (group.items.size() != 2)
        bad_neox_value(*attention, "not understood", "groups such as [[\"flash\"], 24]");
      for (const YamlNode& kind : group.items[0].items) {
        if (kind.text != "flash" && kind.text != "global")
          bad_neox_value(*attention, "cannot be trained here", "flash or global in every layer");
      }
      all = all || group.items[1].text == "all";
      covered += parse_integer(group.items[1].text).value_or(0) * int64_t(group.items[0].items.size());
    }
    const int64_t layers = *values_.integer("num_layers");
    if (!all && covered != layers) {
      bad_neox_value(
          *attention, fmt::format("it covers {} layers, but num-layers is {}", covered, layers),
          "as many layers as num-layers says",
          fmt::format("one of the two is wrong; num-layers is at {}", values_.take("num_layers")->where));
    }
  }

  // What arranges the work and leaves the result alone, or must be off.
  void without_effect() {
    for (const char* name : {"hidden_dropout", "attention_dropout"}) {
      if (values_.number(name).value_or(0) > 0)
        note(fmt::format("{} {} has no equivalent: there is no dropout here, which changes results.", name,
                         values_.take(name)->node.text));
    }
    if (const NeoxValue* zero = values_.take("zero_optimization"))
      note(fmt::format("zero_optimization ({}) shards the optimizer and does not change results.",
                       zero->where));
    attention();
    for (const char* name :
         {"pipe_parallel_size", "output_layer_parallelism", "scaled_upper_triang_masked_softmax_fusion",
          "synchronize_each_layer", "partition_activations", "checkpoint_num_layers", "steps_per_print",
          "wall_clock_breakdown"})
      values_.take(name);
  }

  std::string write() const {
    const RunSpec spec = parse_spec("version: 1\n", "import", words_).spec;
    std::string text = "version: 1\n", section;
    for (const Key& key : key_table()) {
      const auto origin = origins_.find(key.path);
      if (origin == origins_.end()) continue;
      if (key.section() != section) text += fmt::format("\n{}:\n", section = key.section());
      text += fmt::format("  {}: {}", key.name(), value_text(key, spec));
      text += origin->second.empty() ? "\n" : fmt::format("  # {}\n", origin->second);
    }
    return text;
  }

  int64_t data_ranks_, micro_ = 1, global_ = 1;
  NeoxValues values_;
  std::vector<std::string> words_;
  std::map<std::string, std::string> origins_;
  NeoxImport result_;
};

}  // namespace

NeoxImport import_neox(const std::vector<std::string>& files, int64_t data_ranks) {
  return Importer(files, data_ranks).run();
}

}  // namespace shoal
