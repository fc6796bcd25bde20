#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/log.h"
#include "data/tokenizer.h"
#include "data/utf8.h"
#include "shoal/commands.h"
#include "train/generate.h"
#include "train/trained_model.h"

namespace shoal {
namespace {

// Prints tokens as soon as they make whole characters.
class Stream {
 public:
  explicit Stream(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void add(int32_t token) {
    pending_.push_back(token);
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    const std::string text = tokenizer_.decode(pending_);
    // A character has four bytes at most, so it cannot need more tokens than that.
    if (text.ends_with(replacement) && pending_.size() < 4) return;
    print(text);
  }
  void finish() { print(tokenizer_.decode(pending_) + "\n"); }

 private:
  void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    pending_.clear();
  }
  const Tokenizer& tokenizer_;
  std::vector<int32_t> pending_;
};

std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, const std::string& prompt) {
  const size_t bad = find_invalid_utf8(prompt);
  if (bad != std::string::npos) user_error("--prompt: byte {}: not UTF-8", bad);
  std::vector<int32_t> ids = tokenizer.encode(prompt);
  if (!ids.empty()) return ids;
  // Nothing before: a document begins.
  if (tokenizer.end_of_document() < 0) {
    user_error("--prompt: must hold at least one token, because {} has no end-of-document token",
               tokenizer.describe());
  }
  return {tokenizer.end_of_document()};
}

int generate_text(const Invocation& given) {
  GenerateOptions options;
  options.tokens = given.integer("--tokens", 200, 1, 1'000'000);
  options.sampling.temperature = given.has("--greedy") ? 0 : given.number("--temperature", 1.0, 0, 100);
  options.sampling.top_k = given.integer("--top-k", 0, 0);
  options.sampling.top_p = given.number("--top-p", 1.0, 0, 1);
  options.seed = uint64_t(given.integer("--seed", 1234, 0));
  const int64_t samples = given.integer("--samples", 1, 1, 1'000'000);

  Log log;
  TrainedModel trained(given.text("RUN"), given.all("KEY=VALUE"), log);
  if (trained.spec().data.tokenizer.empty())
    user_error("{}: data.tokenizer is not set", trained.checkpoint());
  const auto tokenizer = open_tokenizer(trained.spec().data.tokenizer);
  const std::string prompt = given.text("--prompt");
  const std::vector<int32_t> ids = encode_prompt(*tokenizer, prompt);
  options.vocab_size = std::min(tokenizer->vocab_size(), trained.model().config().vocab_size);
  options.end = tokenizer->end_of_document();
  if (int64_t(ids.size()) + options.tokens > trained.spec().data.seq_length) {
    log.warn("prompt and continuation are longer than the {} tokens of a training sequence",
             trained.spec().data.seq_length);
  }
  for (int64_t i = 0; i < samples; ++i, ++options.seed) {
    if (samples > 1) fmt::print("--- sample {}, seed {}\n", i + 1, options.seed);
    Stream stream(*tokenizer);
    std::fputs(prompt.c_str(), stdout);
    options.on_token = [&](int32_t token) {
      if (token != options.end) stream.add(token);
      return true;
    };
    generate(trained.model(), trained.context(), ids, options);
    stream.finish();
  }
  return 0;
}

}  // namespace

Command generate_command() {
  return {
      .name = "generate",
      .summary = "continue a text with a trained model",
      .description =
          "Takes the newest checkpoint of a run folder, or a checkpoint file, and prints the prompt and its "
          "continuation "
          "as it comes, up to the end of the document. The same seed gives the same text.",
      .arguments = {{.name = "RUN", .doc = "A run folder or a checkpoint."},
                    {.name = "KEY=VALUE",
                     .doc = "Keys of the stored spec to change, for example run.threads=1.",
                     .completes = Completes::override_key,
                     .required = false,
                     .repeated = true}},
      .flags =
          {{.name = "--prompt",
            .value = "TEXT",
            .doc = "What to continue; nothing: the start of a document."},
           {.name = "--tokens", .value = "N", .doc = "Tokens to make at most; 200 if not given."},
           {.name = "--greedy", .doc = "Always take the most likely token; the same as --temperature 0."},
           {.name = "--temperature", .value = "T", .doc = "Below 1 safer, above 1 wilder; 1 if not given."},
           {.name = "--top-k", .value = "K", .doc = "Choose among the K most likely tokens."},
           {.name = "--top-p",
            .value = "P",
            .doc = "Choose among the fewest tokens that hold this probability."},
           {.name = "--seed", .value = "N", .doc = "Seed of the choices; sample i takes seed N + i."},
           {.name = "--samples", .value = "N", .doc = "How many continuations to print."}},
      .examples = {{"shoal generate runs/demo --prompt 'The history of' --top-p 0.9", "A sample."},
                   {"shoal generate runs/demo --prompt 'The ' --greedy --tokens 20",
                    "The most likely continuation."}},
      .run = generate_text};
}

}  // namespace shoal
