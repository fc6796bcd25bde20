#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "data_tools/tokenize.h"
#include "shoal/commands.h"
#include "shoal/data_words.h"

namespace shoal {

namespace {

void report(const TokenizeSettings& settings, const TokenizeCounts& counts, Log& log) {
  const double tokens = double(counts.tokens + counts.valid_tokens);
  log.info("{}: {} documents, {} tokens, {:.3f} bytes a token, {:.1f} s, {:.1f} MB/s", settings.output,
           with_commas(counts.documents - counts.valid_documents), with_commas(counts.tokens),
           double(counts.text_bytes) / tokens, counts.seconds,
           double(counts.text_bytes) / 1e6 / counts.seconds);
  if (settings.valid_fraction > 0) {
    log.info("{}_valid: {} documents, {} tokens", settings.output, with_commas(counts.valid_documents),
             with_commas(counts.valid_tokens));
    if (counts.valid_documents == 0) {
      log.warn("no document fell to validation: cut the text into more documents, or give a larger fraction");
    }
  }
  if (counts.empty > 0) log.info("{} empty documents left out", with_commas(counts.empty));
  if (counts.invalid > 0) log.warn("{} invalid documents left out", with_commas(counts.invalid));
}

int run_tokenize(const Invocation& given) {
  TokenizeSettings settings;
  settings.inputs = given.all("FILE");
  settings.output = given.text("--output");
  settings.tokenizer = given.text("--tokenizer");
  settings.layout = layout_of(given);
  settings.append_end_of_document = !given.has("--no-eod");
  settings.special_tokens = !given.has("--no-special");
  settings.skip_invalid = given.has("--skip-invalid");
  settings.valid_fraction = given.number("--valid-fraction", 0, 0, 0.9);
  settings.seed = uint64_t(given.integer("--seed", 1234, 0));
  settings.threads = threads_of(given);
  const auto required = [](const std::string& value, const char* flag, const char* allowed) {
    if (value.empty()) throw UserError(Problem{"is missing", flag, "", allowed, ""});
  };
  required(settings.output, "--output", "the prefix of the .bin/.idx pair to write");
  required(settings.tokenizer, "--tokenizer", "\"byte\", or the path of a tokenizer.json");
  Log log;
  report(settings, tokenize_files(settings, log), log);
  return 0;
}

}  // namespace

Command data_tokenize_command() {
  return {
      .name = "tokenize",
      .summary = "write text as a .bin/.idx pair of token ids",
      .description =
          "Documents keep the order of the files. The pair has the format of Megatron-LM and GPT-NeoX; "
          "PREFIX.meta.json beside it names the tokenizer and holds hashes that training checks.",
      .arguments = {text_files_argument()},
      .flags = with_text_flags({
          tokenizer_flag(),
          {.name = "--output",
           .value = "PREFIX",
           .doc = "Where to write PREFIX.bin, PREFIX.idx and PREFIX.meta.json."},
          {.name = "--no-eod", .doc = "Do not end each document with the tokenizer's end-of-document token."},
          {.name = "--no-special",
           .doc = "Encode texts such as <|endoftext|> like any text, for untrusted corpora."},
          {.name = "--valid-fraction",
           .value = "F",
           .doc = "Put this fraction of the documents, chosen by the seed, into PREFIX_valid instead."},
          {.name = "--seed", .value = "N", .doc = "Seed of that choice (default: 1234)."},
      }),
      .examples =
          {{"shoal data tokenize corpus.jsonl.zst --tokenizer tokenizer.json --output data/corpus",
            "One document a line."},
           {"zcat dump.gz | shoal data tokenize - --documents blank-line --tokenizer byte --output data/dump",
            "Paragraphs from standard input, as bytes."}},
      .run = run_tokenize,
  };
}

}  // namespace shoal
