#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "data/dataset.h"
#include "data/tokenizer.h"
#include "model/estimate.h"
#include "shoal/commands.h"
#include "shoal/spec_words.h"

namespace shoal {
namespace {

// Further lines of the text begin below its first.
void row(const char* name, std::string text) {
  const std::string indent(15, ' ');
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at) {
    text.replace(at + 1, text.find_first_not_of(' ', at + 1) - at - 1, indent);
  }
  fmt::print("  {:<12} {}\n", name, text);
}

void print_model(const ModelConfig& model, const RunSpec& spec) {
  std::string heads = fmt::format("{} heads of {}", model.num_heads, model.head_dim);
  if (model.num_kv_heads != model.num_heads) heads += fmt::format(" ({} key-value)", model.num_kv_heads);
  row("model", fmt::format("{}{}: {} layers, hidden {}, {}, feed-forward {}, vocabulary {}", model.family,
                           spec.model.preset.empty() ? "" : " (" + spec.model.preset + ")", model.num_layers,
                           model.hidden_size, heads, model.intermediate_size, model.vocab_size));
  row("parameters", fmt::format("{}, of them {} outside the {}", with_commas(model.parameter_count()),
                                with_commas(model.non_embedding_parameters()),
                                model.tie_embeddings ? "embedding" : "embedding and the output head"));
}

void print_batch(const RunSpec& spec, const ModelConfig& model) {
  const int64_t passes = spec.batch.global / (spec.batch.micro * spec.parallel.data * spec.parallel.z);
  const int64_t tokens = spec.batch.global * spec.data.seq_length;
  row("step", fmt::format("{} sequences of {} = {} tokens, in {} {}", spec.batch.global, spec.data.seq_length,
                          with_commas(tokens), passes, passes == 1 ? "pass" : "passes"));
  row("run", fmt::format("{} steps = {} tokens ({:.1f} a parameter)", with_commas(spec.run.steps),
                         format_count(double(tokens) * double(spec.run.steps)),
                         double(tokens) * double(spec.run.steps) / double(model.parameter_count())));
  const double flops = model.train_flops_per_token(spec.data.seq_length);
  row("work", fmt::format("{} FLOPs a token, {:.3g} in all; {} at 1 TFLOP/s", format_count(flops),
                          flops * double(tokens) * double(spec.run.steps),
                          format_duration(flops * double(tokens) * double(spec.run.steps) / 1e12)));
}

double memory_here() {
  return double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
}

void print_memory(const RunSpec& spec, const ModelConfig& model) {
  const MemoryEstimate m = estimate_memory(spec, model);
  const std::pair<const char*, double> parts[] = {{"weights", m.weights},
                                                  {"packed copies", m.packed},
                                                  {"gradients", m.gradients},
                                                  {"optimizer", m.optimizer},
                                                  {"activations", m.activations},
                                                  {"workspace", m.workspace},
                                                  {"snapshot for saving", m.snapshot}};
  std::vector<std::string> texts;
  for (const auto& [name, bytes] : parts) {
    if (bytes > 0) texts.push_back(fmt::format("{} {}", name, format_bytes(bytes)));
  }
  row("memory",
      fmt::format("about {}: {}", format_bytes(m.total()), wrapped(join_choices(texts, ", "), 84, 15)));
  if (const double here = memory_here(); m.total() > here) {
    row("", fmt::format("which is more than this machine's {}: lower batch.micro, or set precision.recompute",
                        format_bytes(here)));
  }
  const int64_t kept = checkpoints_kept(spec);
  row("checkpoints",
      fmt::format("{} each, {} kept at the end: {}", format_bytes(checkpoint_bytes(spec, model)), kept,
                  format_bytes(double(kept) * checkpoint_bytes(spec, model))));
}

std::string decay_rule(const OptimizerSection& optimizer) {
  if (optimizer.weight_decay == 0 || optimizer.decay == "none") return "no weight decay";
  return fmt::format(
      "weight decay {} on {}", optimizer.weight_decay,
      optimizer.decay == "all" ? "every parameter" : "matrices and embeddings, not on norms and biases");
}

void print_optimizer(const RunSpec& spec) {
  const OptimizerSection& o = spec.optimizer;
  row("optimizer", fmt::format("{}, lr {}, {}; {}", o.name, format_lr(o.lr), decay_rule(o),
                               o.clip_norm > 0 ? fmt::format("gradients clipped to norm {}", o.clip_norm)
                                               : "no clipping"));
}

void print_data(const RunSpec& spec) {
  constexpr std::pair<Split, const char*> kSplits[] = {
      {Split::train, "train"}, {Split::valid, "valid"}, {Split::test, "test"}};
  for (const auto& [split, name] : kSplits) {
    const auto samples =
        open_split(spec, split, split == Split::train ? spec.run.steps * spec.batch.global : 0);
    row(name, samples ? samples->describe() : "none");
  }
}

int check(const Invocation& given) {
  const bool files = !given.has("--no-files");
  const LoadedSpec loaded = spec_of(given, files ? Inputs::checked : Inputs::unchecked);
  const RunSpec& spec = loaded.spec;
  const bool needs_tokenizer = spec.model.vocab_size == 0 || files;
  const int64_t vocab =
      needs_tokenizer && !spec.data.tokenizer.empty() ? open_tokenizer(spec.data.tokenizer)->vocab_size() : 0;
  const ModelConfig model = resolve_model(spec.model, vocab);
  fmt::print("{}: no mistakes found\n",
             loaded.files.empty() ? "the spec" : join_choices(loaded.files, " + "));
  print_model(model, spec);
  print_batch(spec, model);
  print_memory(spec, model);
  print_optimizer(spec);
  if (files) print_data(spec);
  return 0;
}

}  // namespace

Command check_command() {
  return {
      .name = "check",
      .summary = "report every mistake in a spec, and what the run needs",
      .description =
          "Reads the spec, checks each value, what the values say about each other, and that the files are "
          "there. All mistakes are reported together, with exit code 2. Then prints the parameter count, "
          "memory, work and disk of the run.",
      .arguments = spec_arguments(false),
      .flags = {{.name = "--no-files", .doc = "Do not look for the data and the tokenizer."}},
      .examples = {{"shoal check configs/demo.yaml batch.micro=16", "Would a larger pass fit into memory?"},
                   {"shoal check --no-files model.preset=pythia-12b", "The size of a published shape."}},
      .run = check};
}

}  // namespace shoal
