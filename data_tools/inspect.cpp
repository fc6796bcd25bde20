#include "data_tools/inspect.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "data/token_file.h"
#include "data/tokenizer.h"
#include "data_tools/document_facts.h"

namespace shoal {

namespace {

constexpr int64_t kScanLimit = 32 << 20;  // tokens looked at without --verify
constexpr int64_t kScanBlock = 1 << 20;
constexpr int32_t kLargestCounted = 1
                                    << 24;  // beyond any vocabulary: a damaged file must not take all memory

struct TokenFacts {
  int64_t scanned = 0;
  int32_t least = INT32_MAX, largest = -1;
  int64_t ends = 0;             // tokens that are the end-of-document id
  std::vector<int64_t> counts;  // by id

  // The loss, in nats a token, of a model that knows how frequent each token is and nothing else.
  double unigram_entropy() const {
    double entropy = 0;
    for (const int64_t count : counts) {
      const double share = double(count) / double(scanned);
      if (count > 0) entropy -= share * std::log(share);
    }
    return entropy;
  }
};

TokenFacts scan(const TokenFile& file, int64_t count, int64_t end_of_document) {
  TokenFacts facts;
  std::vector<int32_t> ids(size_t(std::min(count, kScanBlock)));
  for (int64_t first = 0; first < count; first += kScanBlock) {
    const int64_t n = std::min(kScanBlock, count - first);
    file.read(first, n, ids.data());
    const auto [least, largest] = std::minmax_element(ids.begin(), ids.begin() + n);
    facts.least = std::min(facts.least, *least);
    facts.largest = std::max(facts.largest, *largest);
    facts.ends += std::count(ids.begin(), ids.begin() + n, int32_t(end_of_document));
    facts.scanned += n;
    if (facts.least < 0 || facts.largest > kLargestCounted) continue;
    if (facts.counts.size() <= size_t(facts.largest)) facts.counts.resize(size_t(facts.largest) + 1);
    for (int64_t i = 0; i < n; ++i) ++facts.counts[size_t(ids[size_t(i)])];
  }
  return facts;
}

// Lengths by powers of two, each with a bar.
void append_histogram(const TokenFile& file, std::string& text) {
  std::vector<int64_t> bins(33);
  std::vector<int64_t> lengths;
  for (int64_t d = 0; d < file.num_documents(); ++d) {
    const int64_t length = file.document_size(d);
    ++bins[size_t(std::bit_width(uint64_t(length)))];
    lengths.push_back(length);
  }
  if (lengths.empty()) return;
  const auto middle = lengths.begin() + int64_t(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  const auto [least, largest] = std::minmax_element(lengths.begin(), lengths.end());
  text += fmt::format("lengths      {} to {}, median {}, mean {:.1f} tokens\n", with_commas(*least),
                      with_commas(*largest), with_commas(*middle),
                      double(file.num_tokens()) / double(file.num_documents()));
  const int64_t most = *std::max_element(bins.begin(), bins.end());
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins[bin] == 0) continue;
    const int64_t from = bin == 0 ? 0 : int64_t(1) << (bin - 1), to = bin == 0 ? 0 : (int64_t(1) << bin) - 1;
    const auto cells = size_t((bins[bin] * 40 + most - 1) / most);
    text += fmt::format("  {:>10} .. {:<10} {:>12}  {}\n", with_commas(from), with_commas(to),
                        with_commas(bins[bin]), std::string(cells, '#'));
  }
}

std::string first_tokens(const TokenFile& file, int64_t count, const Tokenizer* tokenizer) {
  std::vector<int32_t> ids(size_t(std::min(count, file.num_tokens())));
  file.read(0, int64_t(ids.size()), ids.data());
  std::string text = fmt::format("first ids    {}\n", fmt::join(ids, " "));
  if (tokenizer != nullptr) text += fmt::format("first text   {}\n", tokenizer->decode(ids));
  return text;
}

}  // namespace

std::string inspect_token_file(const InspectSettings& settings) {
  const TokenFile file(settings.prefix);
  const TokenFileMeta* meta = file.meta();
  std::unique_ptr<Tokenizer> tokenizer;
  if (!settings.tokenizer.empty()) tokenizer = open_tokenizer(settings.tokenizer);

  std::string text =
      fmt::format("{}\ndocuments    {}\ntokens       {}, {} ({})\n", settings.prefix,
                  with_commas(file.num_documents()), with_commas(file.num_tokens()), to_string(file.type()),
                  format_bytes(double(file.num_tokens() * size_of(file.type()))));
  if (file.index().num_documents() != file.num_documents()) {
    text +=
        fmt::format("note         doc_idx counts {} documents over {} sequences; training reads sequences\n",
                    file.index().num_documents() < 0 ? "not all" : with_commas(file.index().num_documents()),
                    with_commas(file.num_documents()));
  }
  append_histogram(file, text);
  if (file.bin().num_files() > 1) text += fmt::format("shards       {}\n", file.bin().num_files());
  text += to_text(document_facts(file, settings.verify ? INT64_MAX : kScanLimit), file.num_documents());

  const int64_t end = meta != nullptr && meta->end_of_document >= 0 ? meta->end_of_document
                      : tokenizer != nullptr                        ? tokenizer->end_of_document()
                                                                    : -1;
  const TokenFacts facts =
      scan(file, settings.verify ? file.num_tokens() : std::min(file.num_tokens(), kScanLimit), end);
  if (facts.scanned > 0) {
    text += fmt::format("ids          {} to {}", facts.least, facts.largest);
    if (end >= 0) text += fmt::format(", {} times the end of a document ({})", with_commas(facts.ends), end);
    text += facts.scanned < file.num_tokens()
                ? fmt::format(", in the first {} tokens\n", with_commas(facts.scanned))
                : "\n";
    const bool counted = facts.least >= 0 && facts.largest <= kLargestCounted;
    if (counted)
      text += fmt::format("entropy      {:.4f} nats a token, of the unigrams\n", facts.unigram_entropy());
  }
  const int64_t vocabulary = meta != nullptr        ? meta->vocab_size
                             : tokenizer != nullptr ? tokenizer->vocab_size()
                                                    : 0;
  if (vocabulary > 0 && facts.largest >= vocabulary) {
    throw UserError(Problem{fmt::format("has the id {}", facts.largest), settings.prefix + ".bin", "",
                            fmt::format("ids below the vocabulary's {}", vocabulary), ""});
  }
  if (meta == nullptr) {
    text += "hashes       none: there is no .meta.json, damage inside the .bin cannot be found\n";
  } else {
    text += fmt::format("tokenizer    {}, {} ids\nhashes       {}\n", meta->tokenizer, meta->vocab_size,
                        settings.verify
                            ? "all verified"
                            : "of the index verified; --verify checks those of the .bin, training does "
                              "as it reads");
  }
  if (settings.show_tokens > 0 && file.num_tokens() > 0) {
    text += first_tokens(file, settings.show_tokens, tokenizer.get());
  }
  return text;
}

}  // namespace shoal
