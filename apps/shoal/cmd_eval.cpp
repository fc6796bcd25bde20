#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "data/token_file.h"
#include "data/tokenizer.h"
#include "data/utf8.h"
#include "shoal/commands.h"
#include "train/evaluate.h"
#include "train/trained_model.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;

struct Result {
  std::string name;
  LossSums sums;
  int64_t bytes = 0;  // of the text; 0 for token files
};

Result evaluate_text(TrainedModel& trained, const std::string& path, int64_t seq_length,
                     const EvalOptions& options) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!(content << file.rdbuf())) user_error("{}: cannot be read, or is empty", path);
  const std::string text = content.str();
  const size_t bad = find_invalid_utf8(text);
  if (bad != std::string::npos) user_error("{}: byte {}: not UTF-8", path, bad);
  const auto tokenizer = open_tokenizer(trained.spec().data.tokenizer);
  // As in training, a document follows the end of another one, so that its first token has a context.
  std::vector<int32_t> ids;
  if (tokenizer->end_of_document() >= 0) ids.push_back(tokenizer->end_of_document());
  tokenizer->encode_append(text, ids);
  const TokenStream stream{int64_t(ids.size()), [&](int64_t first, int64_t count, int32_t* out) {
                             std::copy_n(ids.begin() + first, count, out);
                           }};
  return {path, *evaluate(trained.model(), stream, seq_length, options), int64_t(text.size())};
}

Result evaluate_tokens(TrainedModel& trained, const std::string& prefix, int64_t seq_length,
                       const EvalOptions& options) {
  const TokenFile file(prefix);
  const int64_t vocab = trained.model().config().vocab_size;
  const TokenStream stream{file.num_tokens(), [&](int64_t first, int64_t count, int32_t* out) {
                             file.read(first, count, out);
                             for (int64_t i = 0; i < count; ++i) {
                               if (out[i] < vocab) continue;
                               user_error("{}: token {} has the id {}, but the model's vocabulary is {}",
                                          prefix, first + i, out[i], vocab);
                             }
                           }};
  return {prefix, *evaluate(trained.model(), stream, seq_length, options), 0};
}

Result evaluate_split(TrainedModel& trained, const std::string& name, const EvalOptions& options) {
  const auto samples = open_split(trained.spec(), name == "test" ? Split::test : Split::valid, 0);
  if (samples == nullptr) {
    user_error("the spec of {} names no {} data: give a text file or the prefix of a token file",
               trained.checkpoint(), name);
  }
  return {name, *evaluate(trained.model(), *samples, options), 0};
}

void print(const Result& result, bool json) {
  const double loss = result.sums.plain_loss();
  const int64_t tokens = result.sums.kept_tokens;
  const double bits = result.bytes > 0 ? result.sums.kept / std::numbers::ln2 / double(result.bytes) : 0;
  if (json) {
    fmt::print("{{\"loss\":{},\"perplexity\":{},\"tokens\":{}", loss, std::exp(loss), tokens);
    if (result.bytes > 0) fmt::print(",\"bytes\":{},\"bits_per_byte\":{}", result.bytes, bits);
    fmt::print("}}\n");
    return;
  }
  fmt::print("{}: loss {:.4f} nats a token, perplexity {:.3f}", result.name, loss, std::exp(loss));
  if (result.bytes > 0) fmt::print(", {:.4f} bits a byte", bits);
  fmt::print(", over {} tokens\n", format_count(double(tokens)));
}

int eval(const Invocation& given) {
  Log log;
  TrainedModel trained(given.text("RUN"), given.all("KEY=VALUE"), log);
  const RunSpec& spec = trained.spec();
  const int64_t seq_length = given.integer("--seq-length", spec.data.seq_length, 1);
  EvalOptions options;
  options.micro = given.integer("--micro", spec.eval.micro > 0 ? spec.eval.micro : spec.batch.micro, 1);
  options.batches = given.integer("--batches", 0, 0);
  const std::string file = given.text("FILE");
  const bool json = given.has("--json");
  if (!json) fmt::print("{}, step {}\n", trained.checkpoint(), trained.step());
  if (file.empty()) {
    print(evaluate_split(trained, given.text("--split", "valid"), options), json);
  } else if (fs::exists(file + ".idx")) {
    print(evaluate_tokens(trained, file, seq_length, options), json);
  } else if (fs::is_regular_file(file)) {
    print(evaluate_text(trained, file, seq_length, options), json);
  } else {
    user_error("{}: neither a text file nor the prefix of a .bin/.idx pair", file);
  }
  return 0;
}

}  // namespace

Command eval_command() {
  Command command{
      .name = "eval",
      .summary = "loss and perplexity of a trained model",
      .description =
          "Takes the newest checkpoint of a run folder, or a checkpoint file, and gives the mean "
          "cross-entropy a token, "
          "the perplexity, and for text the bits a byte. FILE is a text or the prefix of a .bin/.idx pair, "
          "read whole in "
          "windows of the training length; without it, the run's own validation data is taken.",
      .arguments = {{.name = "RUN", .doc = "A run folder or a checkpoint."},
                    {.name = "FILE", .doc = "A text file or the prefix of a token file.", .required = false},
                    {.name = "KEY=VALUE",
                     .doc = "Keys of the stored spec to change, for example precision.compute=f32.",
                     .completes = Completes::override_key,
                     .required = false,
                     .repeated = true}},
      .flags = {{.name = "--split",
                 .value = "NAME",
                 .doc = "The run's own data to take.",
                 .choices = {"valid", "test"}},
                {.name = "--seq-length",
                 .value = "N",
                 .doc = "Tokens in a window; the training length if not given."},
                {.name = "--micro", .value = "N", .doc = "Windows a pass."},
                {.name = "--batches", .value = "N", .doc = "Passes at most."},
                {.name = "--json", .doc = "Print one line of JSON."}},
      .examples = {{"shoal eval runs/demo", "The validation loss of the newest checkpoint."},
                   {"shoal eval runs/demo book.txt", "Perplexity and bits a byte on a text."}},
      .run = eval};
  command.commands = {eval_memorization_command(), eval_prediction_command()};
  return command;
}

}  // namespace shoal
