#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "data_tools/train_tokenizer.h"
#include "shoal/commands.h"
#include "shoal/data_words.h"

namespace shoal {

namespace {

int run_train_tokenizer(const Invocation& given) {
  TrainTokenizerSettings settings;
  settings.inputs = given.all("FILE");
  settings.output = given.text("--output", "tokenizer.json");
  settings.layout = layout_of(given);
  settings.vocab_size = given.integer("--vocab-size", 8192, 257, 10'000'000);
  settings.nfc = given.has("--nfc");
  settings.skip_invalid = given.has("--skip-invalid");
  settings.threads = threads_of(given);
  Log log;
  const TrainTokenizerCounts counts = train_tokenizer(settings, log);
  log.info("{}: {} tokens from {} of text with {} different pieces, {:.1f} s", settings.output,
           with_commas(counts.vocab_size), format_bytes(double(counts.text_bytes)),
           with_commas(counts.pieces), counts.seconds);
  if (counts.vocab_size < settings.vocab_size) {
    log.warn("the text has no pairs for more than {} tokens", with_commas(counts.vocab_size));
  }
  if (counts.invalid > 0) log.warn("{} invalid documents left out", with_commas(counts.invalid));
  return 0;
}

Command train_tokenizer_command() {
  return {
      .name = "train-tokenizer",
      .summary = "learn a byte-level BPE vocabulary from text",
      .description =
          "The tokenizer.json that is written is read by this program and by Hugging Face's libraries. It "
          "splits text as GPT-2 does; id 0 is <|endoftext|>.",
      .arguments = {text_files_argument()},
      .flags = with_text_flags({
          {.name = "--output",
           .value = "FILE",
           .doc = "The file to write (default: tokenizer.json).",
           .completes = Completes::file},
          {.name = "--vocab-size", .value = "N", .doc = "Tokens in all, 257 or more (default: 8192)."},
          {.name = "--nfc", .doc = "Normalise text to NFC, here and whenever the tokenizer is used."},
      }),
      .examples = {{"shoal data train-tokenizer corpus.txt --vocab-size 4096 --output data/bpe.json", ""}},
      .run = run_train_tokenizer,
  };
}

}  // namespace

Command data_command() {
  Command command{.name = "data", .summary = "prepare and look at training data"};
  command.commands = {data_tokenize_command(), train_tokenizer_command(), data_inspect_command(),
                      data_show_command(),     data_index_command(),      data_buckets_command()};
  return command;
}

}  // namespace shoal
