#include "data_tools/buckets.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"
#include "data/permutation.h"
#include "data/token_file.h"
#include "data/token_file_writer.h"

namespace shoal {
namespace {

class Pages {
 public:
  Pages(const TokenFile& file, int64_t length, uint64_t seed) : file_(file), length_(length) {
    for (int64_t d = 0; d < file.num_documents(); ++d) {
      if (file.document_size(d) >= length) documents_.push_back(d);
    }
    if (!documents_.empty()) order_.emplace(seed, uint64_t(documents_.size()));
  }
  int64_t size() const { return int64_t(documents_.size()); }
  // Page i of a random order.
  std::vector<int32_t> operator[](int64_t i) const {
    const int64_t document = documents_[size_t((*order_)(uint64_t(i)))];
    std::vector<int32_t> ids(static_cast<size_t>(length_));
    file_.read(file_.document_begin(document), length_, ids.data());
    return ids;
  }

 private:
  const TokenFile& file_;
  int64_t length_;
  std::vector<int64_t> documents_;
  std::optional<Permutation> order_;
};

TokenFileMeta meta_of(const TokenFile& file) {
  TokenFileMeta meta;
  if (file.meta() != nullptr) {
    meta.vocab_size = file.meta()->vocab_size;
    meta.tokenizer = file.meta()->tokenizer;
  } else {
    meta.vocab_size = size_of(file.type()) <= 2 ? int64_t(1) << (8 * size_of(file.type())) : INT32_MAX;
  }
  return meta;
}

void write_pages(const std::string& path, const TokenFileMeta& meta, const Pages& pages,
                 const std::vector<int64_t>& numbers) {
  TokenFileWriter writer(path,
                         {.vocab_size = meta.vocab_size, .tokenizer = meta.tokenizer, .end_of_document = -1});
  for (const int64_t number : numbers) {
    const std::vector<int32_t> ids = pages[number];
    writer.append(ids.data(), int64_t(ids.size()));
    writer.end_document();
  }
  writer.finish();
}

}  // namespace

BucketCounts make_buckets(const BucketSettings& settings) {
  const auto& epochs = settings.epochs;
  if (std::set<int64_t>(epochs.begin(), epochs.end()).size() != epochs.size()) {
    user_error("--epochs: two buckets have the same number of epochs");
  }
  const int64_t repeated = settings.pages * std::accumulate(epochs.begin(), epochs.end(), int64_t(0));
  if (repeated > settings.rows) {
    throw UserError(Problem{fmt::format("the buckets take {} rows", repeated), "--rows",
                            fmt::format("{}", settings.rows), fmt::format("{} or more", repeated), ""});
  }
  const TokenFile file(settings.input);
  const Pages pages(file, settings.seq_length + 1, settings.seed);
  const int64_t in_buckets = settings.pages * int64_t(epochs.size());
  const BucketCounts counts{pages.size(), settings.warmup_rows + settings.rows - repeated};
  if (in_buckets + counts.others > pages.size()) {
    throw UserError(Problem{fmt::format("has {} documents of {} tokens or more, and {} pages are needed",
                                        pages.size(), settings.seq_length + 1, in_buckets + counts.others),
                            settings.input, "", "",
                            "take shorter pages (--seq-length), fewer of them, or more text"});
  }
  const TokenFileMeta meta = meta_of(file);
  std::vector<int64_t> mixed;
  for (size_t bucket = 0; bucket < epochs.size(); ++bucket) {
    std::vector<int64_t> numbers(static_cast<size_t>(settings.pages));
    std::iota(numbers.begin(), numbers.end(), int64_t(bucket) * settings.pages);
    write_pages(fmt::format("{}_{}", settings.output, epochs[bucket]), meta, pages, numbers);
    for (int64_t e = 0; e < epochs[bucket]; ++e) mixed.insert(mixed.end(), numbers.begin(), numbers.end());
  }
  std::vector<int64_t> order(static_cast<size_t>(settings.warmup_rows));
  std::iota(order.begin(), order.end(), in_buckets);
  for (int64_t other = settings.warmup_rows; other < counts.others; ++other)
    mixed.push_back(in_buckets + other);
  if (!mixed.empty()) {
    const Permutation places(settings.seed + 1, uint64_t(mixed.size()));
    for (size_t i = 0; i < mixed.size(); ++i) order.push_back(mixed[size_t(places(i))]);
  }
  write_pages(settings.output, meta, pages, order);
  return counts;
}

}  // namespace shoal
