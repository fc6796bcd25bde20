#include <algorithm>

#include "base/error.h"
#include "data/dataset.h"
#include "data/native_order.h"
#include "data/preshuffled_source.h"
#include "data/published_source.h"
#include "data/split.h"
#include "data/token_file.h"
#include "data/tokenizer.h"

namespace shoal {

namespace {

const char* name_of(Split split) {
  return split == Split::train ? "train" : split == Split::valid ? "valid" : "test";
}

// Ids must be below the model's vocabulary; while that is not given, below the tokenizer's.
int64_t token_limit(const RunSpec& spec, const TokenFile& file) {
  if (spec.model.vocab_size > 0) return spec.model.vocab_size;
  if (file.meta() != nullptr) return file.meta()->vocab_size;
  return spec.data.tokenizer.empty() ? INT32_MAX : open_tokenizer(spec.data.tokenizer)->vocab_size();
}

void check_tokenizer(const RunSpec& spec, const TokenFile& file) {
  if (file.meta() == nullptr || file.meta()->tokenizer.empty() || spec.data.tokenizer.empty()) return;
  const std::string wanted = tokenizer_identity(spec.data.tokenizer);
  if (wanted == file.meta()->tokenizer) return;
  throw UserError(
      Problem{fmt::format("was made with the tokenizer {}", file.meta()->tokenizer), file.prefix(), "",
              fmt::format("the tokenizer of data.tokenizer, {} ({})", spec.data.tokenizer, wanted),
              "name the tokenizer that made it, or tokenise the corpus again"});
}

// Where the samples of a split come from: sources of their own, or ranges of the training sources.
struct Cut {
  std::vector<DataSource> sources;
  int range = -1;  // -1: whole files
};

Cut cut_of(const DataSection& data, Split split) {
  const auto& own = split == Split::train ? data.train : split == Split::valid ? data.valid : data.test;
  if (data.split.empty() || (split != Split::train && !own.empty())) return {own, -1};
  if (split == Split::train && (!data.valid.empty() || !data.test.empty())) {
    throw UserError(Problem{"cuts the training files, but files are given for validation or test too",
                            "data.split", data.split, "",
                            "leave out data.split, or data.valid and data.test"});
  }
  return {data.train, int(split)};
}

TokenRows rows_of(const RunSpec& spec, const DataSource& source, int range) {
  const auto file = std::make_shared<const TokenFile>(source.path);
  check_tokenizer(spec, *file);
  int64_t first = 0, end = file->num_documents();
  if (range >= 0) {
    const bool is_megatron = spec.data.order == "megatron";
    const auto ranges =
        (is_megatron ? split_ranges_megatron : split_ranges)(spec.data.split, file->num_documents());
    first = ranges[size_t(range)];
    end = ranges[size_t(range) + 1];
  }
  return TokenRows(file, first, end, spec.data.seq_length, token_limit(spec, *file));
}

[[noreturn]] void too_short(const TokenRows& rows, const char* split, bool is_cut) {
  throw UserError(
      Problem{fmt::format("has {} tokens for {}, too few for one sample", rows.num_tokens(), split),
              rows.file().prefix(), "",
              fmt::format("at least data.seq_length + 1 = {} tokens", rows.seq_length() + 1),
              is_cut ? "data.split cuts by documents: give this part a larger share, or more documents"
                     : "use more text"});
}

[[noreturn]] void too_few(const SampleSource& source, Split split, int64_t needed_samples) {
  const bool is_train = split == Split::train;
  throw UserError(Problem{fmt::format("has {} samples, and {} are asked for", source.size(), needed_samples),
                          fmt::format("data.{}", name_of(split)), "", "",
                          is_train
                              ? "shorten run.steps: rows in training order are not repeated"
                              : "ask for fewer (eval.batches), or give more text: it is never read twice"});
}

std::unique_ptr<SampleSource> open_preshuffled(const RunSpec& spec, const std::vector<DataSource>& sources,
                                               int64_t needed_samples) {
  std::vector<std::shared_ptr<const TokenFile>> files;
  std::vector<int64_t> limits;
  for (const DataSource& source : sources) {
    files.push_back(std::make_shared<const TokenFile>(source.path, IndexCheck::ends));
    check_tokenizer(spec, *files.back());
    limits.push_back(token_limit(spec, *files.back()));
  }
  auto source =
      std::make_unique<PreshuffledSource>(std::move(files), spec.data.seq_length, std::move(limits));
  if (source->size() < needed_samples) too_few(*source, Split::train, needed_samples);
  return source;
}

}  // namespace

std::unique_ptr<SampleSource> open_split(const RunSpec& spec, Split split, int64_t needed_samples) {
  const Cut cut = cut_of(spec.data, split);
  if (cut.sources.empty()) return nullptr;
  const std::string& order = spec.data.order;
  if (order == "preshuffled" && split == Split::train) {
    return open_preshuffled(spec, cut.sources, needed_samples);
  }
  if (order != "native" && order != "gpt-neox" && order != "megatron" && order != "preshuffled") {
    throw UserError(
        Problem{"is not known", "data.order", order, "native, gpt-neox, megatron, preshuffled", ""});
  }
  std::vector<TokenRows> rows;
  for (const DataSource& source : cut.sources) {
    rows.push_back(rows_of(spec, source, cut.range));
    if (rows.back().size() == 0 && cut.range >= 0 && split != Split::train && rows.back().num_tokens() == 0) {
      rows.pop_back();  // a share of zero
    } else if (rows.back().size() == 0) {
      too_short(rows.back(), name_of(split), cut.range >= 0);
    }
  }
  if (rows.empty()) return nullptr;

  if (split != Split::train) {
    auto source = std::make_unique<SequentialSource>(std::move(rows));
    if (source->size() < needed_samples) too_few(*source, split, needed_samples);
    return source;
  }

  const uint64_t seed = spec.data.seed >= 0 ? uint64_t(spec.data.seed) : spec.run.seed;
  std::vector<double> weights;
  int64_t one_epoch = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    one_epoch += rows[i].size();
    weights.push_back(cut.sources[i].weight);
    if (!(weights.back() > 0)) {
      throw UserError(Problem{"must be positive", fmt::format("data.train[{}].weight", i),
                              fmt::format("{}", weights.back()), "a number above 0",
                              "leave out a source of weight 0"});
    }
  }
  if (order != "native") {
    const PublishedSource::Options options{
        .order = order == "megatron" ? PublishedOrder::megatron : PublishedOrder::gpt_neox,
        .needed_samples = needed_samples,
        .order_samples = spec.data.order_samples,
        .epochs = spec.data.epochs,
        .seed = seed};
    return std::make_unique<PublishedSource>(options, std::move(rows), cut.sources);
  }
  std::vector<ShuffledRows> sources;
  for (size_t i = 0; i < rows.size(); ++i) sources.emplace_back(std::move(rows[i]), seed, int(i));
  return std::make_unique<BlendedSource>(std::move(sources), weights, std::max(one_epoch, needed_samples));
}

}  // namespace shoal
