#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "base/error.h"
#include "data/token_file.h"
#include "data/token_file_writer.h"
#include "data_tools/buckets.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

// Document d is d, d, d ...; every third one is too short for a page of 9 tokens.
void write_documents(const std::string& prefix, int32_t count) {
  TokenFileWriter writer(prefix, {.vocab_size = 5000, .tokenizer = "", .end_of_document = -1});
  for (int32_t d = 0; d < count; ++d) {
    const std::vector<int32_t> ids(d % 3 == 0 ? 8 : 9 + size_t(d % 5), d);
    writer.append(ids.data(), int64_t(ids.size()));
    writer.end_document();
  }
  writer.finish();
}

// The documents that stand in a file of pages, by place.
std::vector<int32_t> pages_of(const std::string& prefix) {
  const TokenFile file(prefix);
  std::vector<int32_t> pages;
  for (int64_t d = 0; d < file.num_documents(); ++d) {
    CHECK(file.document_size(d) == 9);
    int32_t id = 0;
    file.read(file.document_begin(d), 1, &id);
    pages.push_back(id);
  }
  return pages;
}

}  // namespace

TEST_CASE("buckets: disjoint, as often as they say, the warm-up free of them") {
  const test::TempFolder folder;
  write_documents(folder / "corpus", 300);
  const BucketSettings settings{.input = folder / "corpus",
                                .output = folder / "pages",
                                .seq_length = 8,
                                .pages = 5,
                                .warmup_rows = 60,
                                .rows = 100};
  const BucketCounts counts = make_buckets(settings);
  CHECK(counts.candidates == 200);
  CHECK(counts.others == 60 + 100 - 55);

  const std::vector<int32_t> rows = pages_of(folder / "pages");
  REQUIRE(rows.size() == 160);
  std::map<int32_t, int64_t> in_warmup, after;
  for (size_t i = 0; i < rows.size(); ++i) ++(i < 60 ? in_warmup : after)[rows[i]];
  std::map<int32_t, int64_t> expected;  // of the pages in buckets
  for (const int64_t epochs : {0, 1, 4, 6}) {
    const auto pages = pages_of(folder / ("pages_" + std::to_string(epochs)));
    CHECK(pages.size() == 5);
    for (const int32_t page : pages) CHECK(expected.emplace(page, epochs).second);
  }
  for (const auto& [page, epochs] : expected) {
    CHECK(in_warmup.count(page) == 0);
    CHECK(after[page] == epochs);
  }
  for (const auto& [page, count] : after) {
    if (expected.count(page) == 0) CHECK(count + in_warmup[page] == 1);
  }
  CHECK(std::vector<int32_t>(rows.begin() + 60, rows.begin() + 65) != pages_of(folder / "pages_1"));
}

TEST_CASE("buckets: too few pages or rows are refused") {
  const test::TempFolder folder;
  write_documents(folder / "corpus", 60);
  BucketSettings settings{
      .input = folder / "corpus", .output = folder / "pages", .seq_length = 8, .pages = 5};
  settings.rows = 54;
  CHECK_THROWS_WITH_AS(make_buckets(settings), doctest::Contains("take 55 rows"), UserError);
  settings.rows = 100;
  CHECK_THROWS_WITH_AS(make_buckets(settings), doctest::Contains("has 40 documents of 9 tokens"), UserError);
  settings.rows = 75;
  CHECK(make_buckets(settings).others == 20);
  settings.epochs = {1, 1};
  CHECK_THROWS_AS(make_buckets(settings), UserError);
}
