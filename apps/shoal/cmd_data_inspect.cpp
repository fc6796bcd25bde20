#include <cstdio>

#include "base/error.h"
#include "data/dataset.h"
#include "data_tools/inspect.h"
#include "shoal/commands.h"
#include "shoal/data_words.h"
#include "spec/load.h"
#include "train/train_data.h"

namespace shoal {
namespace {

bool is_spec(const std::string& word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

// What a run would read: opening the splits proves that every source has the samples that the run takes.
void inspect_run(const std::string& path, const std::vector<std::string>& overrides) {
  const RunSpec spec = load_spec({path}, overrides, Inputs::checked).spec;
  const int64_t needed = samples_needed(spec);
  std::printf("%s\ntrain        %s\n", path.c_str(),
              open_split(spec, Split::train, needed)->describe().c_str());
  std::printf("needed       %s\n", fmt::format("{} samples: {} steps of {}; every source has enough", needed,
                                               spec.run.steps, spec.batch.global)
                                       .c_str());
  for (const auto& [split, name] : {std::pair{Split::valid, "valid"}, {Split::test, "test"}}) {
    const auto source = open_split(spec, split, 0);
    if (source != nullptr) std::printf("%-12s %s\n", name, source->describe().c_str());
  }
}

int run_inspect(const Invocation& given) {
  for (const std::string& word : given.all("PREFIX")) {
    if (is_spec(word)) {
      inspect_run(word, given.all("KEY=VALUE"));
      continue;
    }
    const std::string report = inspect_token_file({.prefix = word,
                                                   .tokenizer = given.text("--tokenizer"),
                                                   .verify = given.has("--verify"),
                                                   .show_tokens = given.integer("--tokens", 64, 0, 1 << 20)});
    std::fputs(report.c_str(), stdout);
  }
  return 0;
}

}  // namespace

Command data_inspect_command() {
  return {
      .name = "inspect",
      .summary = "show what is in a .bin/.idx pair, or what a run reads, and check it",
      .description =
          "For a pair: counts, lengths, what ends documents, whether the sequences are rows in training "
          "order, "
          "exact duplicates of documents, ids, and the first tokens. For a run spec: the samples of each "
          "source, "
          "and that there are enough of them for every step.",
      .arguments = {{.name = "PREFIX",
                     .doc = "A pair's path without .bin or .idx, or a run spec (.yaml).",
                     .repeated = true},
                    {.name = "KEY=VALUE",
                     .doc = "Keys of the run spec to change.",
                     .completes = Completes::override_key,
                     .required = false,
                     .repeated = true}},
      .flags = {tokenizer_flag(),
                {.name = "--verify", .doc = "Read everything and check every hash."},
                {.name = "--tokens",
                 .value = "N",
                 .doc = "How many of the first tokens to show (default: 64)."}},
      .examples = {{"shoal data inspect data/corpus --tokenizer data/bpe.json --verify", ""},
                   {"shoal data inspect configs/demo.yaml", "What the demo reads."}},
      .run = run_inspect,
  };
}

}  // namespace shoal
