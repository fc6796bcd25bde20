#include "data_tools/tokenize.h"

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/philox.h"
#include "base/units.h"
#include "data/token_file_writer.h"
#include "data/tokenizer.h"
#include "data_tools/documents.h"
#include "data_tools/ordered_pipeline.h"
#include "data_tools/progress.h"

namespace shoal {

namespace {

// What a worker makes of a block: the ids of its documents, one after the other.
struct EncodedBlock {
  struct Part {
    size_t end;  // in ids
    bool ends_document, is_empty, is_invalid;
  };
  std::vector<int32_t> ids;
  std::vector<Part> parts;
  int64_t text_bytes = 0, bytes_consumed = 0;
};

class Output {
 public:
  Output(const TokenizeSettings& settings, const Tokenizer& tokenizer)
      : draw_(settings.seed, "data/valid"),
        valid_fraction_(settings.valid_fraction),
        keep_whole_(settings.skip_invalid) {
    const TokenFileWriter::Source source{
        .vocab_size = tokenizer.vocab_size(),
        .tokenizer = tokenizer.identity(),
        .end_of_document = settings.append_end_of_document ? tokenizer.end_of_document() : -1};
    train_ = std::make_unique<TokenFileWriter>(settings.output, source);
    if (valid_fraction_ > 0) valid_ = std::make_unique<TokenFileWriter>(settings.output + "_valid", source);
  }

  void add(const EncodedBlock& block, TokenizeCounts& counts) {
    size_t begin = 0;
    for (const auto& part : block.parts) {
      add_part(block.ids.data() + begin, int64_t(part.end - begin), part, counts);
      begin = part.end;
    }
    counts.text_bytes += block.text_bytes;
    counts.tokens = train_->num_tokens();
    counts.valid_tokens = valid_ ? valid_->num_tokens() : 0;
  }

  void finish() {
    train_->finish();
    if (valid_) valid_->finish();
  }

 private:
  void add_part(const int32_t* ids, int64_t count, const EncodedBlock::Part& part, TokenizeCounts& counts) {
    invalid_ |= part.is_invalid;
    empty_ &= part.is_empty;
    if (invalid_) {
      held_.clear();
    } else if (keep_whole_ && !part.ends_document) {
      held_.insert(held_.end(), ids, ids + count);  // until it is known that all of the document is valid
    } else {
      TokenFileWriter& writer = writer_for(counts.documents);
      writer.append(held_.data(), int64_t(held_.size()));
      writer.append(ids, count);
      held_.clear();
    }
    if (!part.ends_document) return;
    if (invalid_) {
      ++counts.invalid;
    } else if (empty_) {
      ++counts.empty;
    } else {
      TokenFileWriter& writer = writer_for(counts.documents);
      writer.end_document();
      counts.valid_documents += &writer == valid_.get();
      ++counts.documents;
    }
    invalid_ = false;
    empty_ = true;
  }

  TokenFileWriter& writer_for(int64_t document) {
    return valid_ && draw_.uniform(uint64_t(document)) < valid_fraction_ ? *valid_ : *train_;
  }

  Philox draw_;
  double valid_fraction_;
  bool keep_whole_;
  std::unique_ptr<TokenFileWriter> train_, valid_;
  std::vector<int32_t> held_;
  bool invalid_ = false, empty_ = true;  // of the document at hand
};

EncodedBlock encode(const Block& block, const TokenizeSettings& settings, const Tokenizer& tokenizer) {
  EncodedBlock result;
  result.bytes_consumed = block.bytes_consumed;
  for_each_document(block, settings.layout, settings.skip_invalid, [&](const Document& document) {
    const bool is_empty = document.begins && document.text.empty();
    if (!document.invalid) tokenizer.encode_append(document.text, result.ids);
    if (document.ends && !document.invalid && !is_empty && settings.append_end_of_document) {
      result.ids.push_back(tokenizer.end_of_document());
    }
    result.text_bytes += int64_t(document.text.size());
    result.parts.push_back({result.ids.size(), document.ends, is_empty, document.invalid});
  });
  return result;
}

}  // namespace

TokenizeCounts tokenize_files(const TokenizeSettings& settings, Log& log) {
  const auto tokenizer = open_tokenizer(settings.tokenizer, {.special_tokens = settings.special_tokens});
  if (settings.append_end_of_document && tokenizer->end_of_document() < 0) {
    throw UserError(Problem{"has no token that ends a document", settings.tokenizer, "", "",
                            "--no-eod leaves the documents without one"});
  }
  const auto files = find_input_files(settings.inputs);
  int64_t total = 0;
  for (const InputFile& file : files) total += file.bytes;

  TokenizeCounts counts;
  Output output(settings, *tokenizer);
  BlockReader reader(files, settings.layout,
                     [&](std::string_view text) { return tokenizer->safe_cut(text); });
  Progress progress(log, "tokenize", total);
  OrderedPipeline<Block, EncodedBlock> pipeline(
      [&](Block& block) { return reader.next(block); },
      [&](Block& block) { return encode(block, settings, *tokenizer); }, settings.threads);
  pipeline.run([&](EncodedBlock&& block) {
    output.add(block, counts);
    progress.show(block.bytes_consumed,
                  fmt::format("{} documents | {} tokens | {:.1f} MB/s",
                              format_count(double(counts.documents)), format_count(double(counts.tokens)),
                              double(counts.text_bytes) / 1e6 / progress.seconds()));
  });
  if (counts.documents == 0) {
    throw UserError(
        Problem{"hold no text", "the input files", "", "at least one document",
                counts.invalid > 0 ? fmt::format("{} invalid documents were skipped", counts.invalid) : ""});
  }
  output.finish();
  counts.seconds = progress.seconds();
  return counts;
}

}  // namespace shoal
