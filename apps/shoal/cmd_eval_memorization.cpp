#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "data/dataset.h"
#include "data/token_file.h"
#include "data/tokenizer.h"
#include "eval/score_file.h"
#include "shoal/commands.h"
#include "train/trained_model.h"

namespace shoal {
namespace {

// The documents of a set, cut to what a training row holds and without the mark of their end.
Sequences documents_of(const std::string& prefix, int64_t longest, int32_t end_of_document) {
  const auto file = std::make_shared<const TokenFile>(prefix);
  return {0, file->num_documents(), [=](int64_t document) {
            std::vector<int32_t> ids(size_t(std::min(file->document_size(document), longest)));
            file->read(file->document_begin(document), int64_t(ids.size()), ids.data());
            if (!ids.empty() && ids.back() == end_of_document) ids.pop_back();
            return ids;
          }};
}

// The rows that training has seen up to the checkpoint, in its order.
Sequences training_rows_of(const TrainedModel& trained) {
  const int64_t seen = trained.step() * trained.spec().batch.global;
  const std::shared_ptr<const SampleSource> source = open_split(trained.spec(), Split::train, seen);
  if (source == nullptr) user_error("{}: its spec names no training data: give --data", trained.checkpoint());
  return {0, seen, [source](int64_t row) {
            std::vector<int32_t> ids(size_t(source->seq_length() + 1));
            source->read(row, ids.data());
            return ids;
          }};
}

void write_text(const std::string& path, const std::string& text, std::ios::openmode mode) {
  std::ofstream file(path, std::ios::binary | mode);
  file << text;
  file.close();
  if (!file) runtime_failure("cannot write {}", path);
}

int memorization(const Invocation& given) {
  Log log(given.has("--json"));
  TrainedModel trained(given.text("RUN"), given.all("KEY=VALUE"), log);
  const int64_t seq_length = trained.spec().data.seq_length;
  Extraction extraction;
  const bool is_ending = given.has("--last");
  extraction.prompt = is_ending ? 0 : given.integer("--k", 32, 1, seq_length);
  extraction.continuation = given.integer(is_ending ? "--last" : "--l", 32, 1, seq_length);
  extraction.batch = given.integer("--batch", 64, 1, 1 << 20);
  if (!trained.spec().data.tokenizer.empty()) {
    const auto tokenizer = open_tokenizer(trained.spec().data.tokenizer);
    extraction.greedy = {tokenizer->vocab_size(), tokenizer->end_of_document()};
  }
  const std::string data = given.text("--data");
  Sequences sequences =
      data.empty() ? training_rows_of(trained) : documents_of(data, seq_length + 1, extraction.greedy.banned);
  sequences.first = std::min(given.integer("--first", 0, 0), sequences.end);
  const int64_t left = sequences.end - sequences.first;
  sequences.end = sequences.first + std::min(left, given.integer("--count", left, 0));
  extraction.on_progress = [&](int64_t done) {
    log.status(fmt::format("{} of {} sequences", done, sequences.end - sequences.first));
  };
  log.info("{}, step {}: sequences {} to {} of {}", trained.checkpoint(), trained.step(), sequences.first,
           sequences.end, data.empty() ? "the training order" : data);

  const std::vector<ExtractionScore> scores =
      extract(trained.model(), trained.context(), sequences, extraction);
  if (const std::string path = given.text("--output"); !path.empty()) {
    write_text(path, scores_csv(scores, is_ending), std::ios::trunc);
  }
  const ExtractionSummary summary = summary_of(scores);
  if (given.has("--epochs")) {
    const std::string more =
        fmt::format("\"epochs\":{},\"tokens\":{},", given.integer("--epochs", 0, 0), extraction.continuation);
    write_text(given.text("RUN") + "/memorization.jsonl", to_json(summary, more), std::ios::app);
  }
  if (given.has("--json")) {
    fmt::print("{}", to_json(summary, ""));
    return 0;
  }
  const int64_t short_ones = sequences.end - sequences.first - summary.sequences;
  if (short_ones > 0) log.info("{} sequences are too short and left out", short_ones);
  log.info("memorized {} of {} ({:.2f} %), {:.4f} of the tokens right, RougeL {:.4f}", summary.exact,
           summary.sequences, 100 * summary.share(), summary.matched, summary.rouge_l);
  return 0;
}

}  // namespace

Command eval_memorization_command() {
  return {
      .name = "memorization",
      .summary = "how much of its training data a model gives back",
      .description =
          "Prompts with the first K tokens of each sequence, continues greedily (never with the end of a "
          "document) and gives the share of the next L tokens that is right; 1 is memorized. The sequences "
          "are "
          "the rows that training has seen, in its order, or the documents of --data. With --last N the "
          "prompt "
          "is all but the last N tokens.",
      .arguments = {{.name = "RUN", .doc = "A run folder or a checkpoint."},
                    {.name = "KEY=VALUE",
                     .doc = "Keys of the stored spec to change, for example precision.compute=f32.",
                     .completes = Completes::override_key,
                     .required = false,
                     .repeated = true}},
      .flags = {{.name = "--data",
                 .value = "PREFIX",
                 .doc = "Score the documents of this set instead of the training rows.",
                 .completes = Completes::file},
                {.name = "--k", .value = "K", .doc = "Tokens of the prompt (default: 32)."},
                {.name = "--l", .value = "L", .doc = "Tokens of the continuation (default: 32)."},
                {.name = "--last", .value = "N", .doc = "Ask for the last N tokens, for example 50."},
                {.name = "--first", .value = "N", .doc = "The first sequence (default: 0)."},
                {.name = "--count", .value = "N", .doc = "How many sequences (default: all)."},
                {.name = "--batch", .value = "N", .doc = "Sequences at once (default: 64)."},
                {.name = "--output",
                 .value = "FILE.csv",
                 .doc = "Write index,score lines; with --last index,matched,rouge_l.",
                 .completes = Completes::file},
                {.name = "--epochs",
                 .value = "E",
                 .doc = "Note the result in RUN/memorization.jsonl, for the report, as that of E epochs."},
                {.name = "--json", .doc = "Print one line of JSON."}},
      .examples = {{"shoal eval memorization runs/small --k 32 --l 32 --output small.csv",
                    "The (32, 32)-extractable score of every training row."},
                   {"shoal eval memorization runs/pages --data pages_4 --last 50",
                    "Which pages end as they do in the training data."}},
      .run = memorization};
}

}  // namespace shoal
