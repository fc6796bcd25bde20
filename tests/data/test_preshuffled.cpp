#include <doctest/doctest.h>

#include <filesystem>
#include <numeric>

#include "base/error.h"
#include "data/dataset.h"
#include "data/files.h"
#include "data/npy.h"
#include "data/token_file.h"
#include "data/token_file_writer.h"
#include "spec/token_files.h"

using namespace shoal;
namespace fs = std::filesystem;

namespace {

void write_rows(const std::string& prefix, int64_t rows, int64_t length) {
  TokenFileWriter writer(prefix, {.vocab_size = 60000, .tokenizer = "", .end_of_document = -1});
  std::vector<int32_t> row(static_cast<size_t>(length));
  for (int64_t r = 0; r < rows; ++r) {
    std::iota(row.begin(), row.end(), int32_t(100 * r));
    writer.append(row.data(), length);
    writer.end_document();
  }
  writer.finish();
}

// Cuts PREFIX.bin into shards of so many bytes, named by the number of the last one.
void cut(const std::string& prefix, size_t bytes, int named_more = 0) {
  const std::string all = read_file(prefix + ".bin");
  const size_t count = (all.size() + bytes - 1) / bytes;
  for (size_t i = 0; i < count; ++i) {
    write_file(prefix + fmt::format("-{:05}-of-{:05}.bin", i, int(count) - 1 + named_more),
               all.substr(i * bytes, bytes));
  }
  fs::remove(prefix + ".bin");
}

RunSpec spec_of(const std::string& prefix, int64_t seq_length) {
  RunSpec spec;
  spec.data.train = {{prefix, 1.0, ""}};
  spec.data.order = "preshuffled";
  spec.data.seq_length = seq_length;
  return spec;
}

}  // namespace

TEST_CASE("preshuffled: sample i is sequence i, from one file or from shards") {
  const test::TempFolder folder;
  for (const size_t shard_bytes : {size_t(0), size_t(1000), size_t(66), size_t(37)}) {  // 37: within a token
    for (const bool with_meta : {true, false}) {
      write_rows(folder / "set", 20, 33);
      if (!with_meta) fs::remove(folder / "set.meta.json");
      if (shard_bytes > 0) cut(folder / "set", shard_bytes);
      const auto source = open_split(spec_of(folder / "set", 32), Split::train, 20);
      REQUIRE(source->size() == 20);
      std::vector<int32_t> row(33);
      for (int32_t i = 0; i < 20; ++i) {
        source->read(i, row.data());
        CHECK(row.front() == 100 * i);
        CHECK(row.back() == 100 * i + 32);
      }
      for (const auto& entry : fs::directory_iterator(std::string(folder / ""))) fs::remove(entry);
    }
  }
}

TEST_CASE("preshuffled: what does not fit is refused") {
  const test::TempFolder folder;
  write_rows(folder / "set", 20, 33);
  CHECK_THROWS_WITH_AS(open_split(spec_of(folder / "set", 16), Split::train, 1),
                       doctest::Contains("data.seq_length=32"), UserError);
  CHECK_THROWS_WITH_AS(open_split(spec_of(folder / "set", 32), Split::train, 21),
                       doctest::Contains("has 20 samples, and 21 are asked for"), UserError);
  // A damaged size in the middle is found when the row is read.
  fs::remove(folder / "set.meta.json");
  std::string index = read_file(folder / "set.idx");
  index[34 + 4 * 7] = 32;
  write_file(folder / "set.idx", index);
  const auto source = open_split(spec_of(folder / "set", 32), Split::train, 1);
  std::vector<int32_t> row(33);
  source->read(6, row.data());
  CHECK_THROWS_AS(source->read(7, row.data()), UserError);
  index = read_file(folder / "set.idx");
  index[34 + 4 * 20 + 8 * 8 + 5] = 1;  // a pointer far behind the end
  write_file(folder / "set.idx", index);
  CHECK_THROWS_AS(open_split(spec_of(folder / "set", 32), Split::train, 1)->read(8, row.data()), UserError);
}

TEST_CASE("shards: found by name, whole sets only") {
  const test::TempFolder folder;
  write_rows(folder / "set", 20, 33);
  CHECK(bin_files_of(folder / "set") == std::vector<std::string>{folder / "set.bin"});
  cut(folder / "set", 500);
  CHECK(bin_files_of(folder / "set").size() == 3);
  CHECK(TokenFile(folder / "set").num_documents() == 20);
  fs::remove(folder / "set-00001-of-00002.bin");
  CHECK(bin_files_of(folder / "set").empty());
  CHECK_THROWS_AS(TokenFile(folder / "set"), UserError);
  write_rows(folder / "other", 20, 33);
  cut(folder / "other", 500, 1);  // named by their number
  CHECK(bin_files_of(folder / "other").size() == 3);
}

TEST_CASE("shards: damage is found across a border") {
  const test::TempFolder folder;
  write_rows(folder / "set", 20, 33);
  cut(folder / "set", 501);
  std::string shard = read_file(folder / "set-00001-of-00002.bin");
  shard[0] = char(shard[0] ^ 1);
  write_file(folder / "set-00001-of-00002.bin", shard);
  std::vector<int32_t> ids(660);
  CHECK_THROWS_WITH_AS(TokenFile(folder / "set").read(0, 660, ids.data()),
                       doctest::Contains("not those that were written"), UserError);
}

TEST_CASE("npy: arrays come back, and others are refused") {
  const test::TempFolder folder;
  const std::vector<int64_t> wide{-1, 0, int64_t(1) << 40, 7, 8, 9};
  write_npy<int64_t>(folder / "a.npy", {3, 2}, wide);
  const NpyFile file(folder / "a.npy");
  CHECK(file.shape() == std::vector<int64_t>{3, 2});
  for (size_t i = 0; i < wide.size(); ++i) CHECK(file[int64_t(i)] == wide[i]);
  CHECK(read_file(folder / "a.npy").size() == 128 + 48);
  const std::vector<uint16_t> narrow{65535, 1};
  write_npy<uint16_t>(folder / "b.npy", {2}, narrow);
  CHECK(NpyFile(folder / "b.npy")[0] == 65535);

  const std::string good = read_file(folder / "a.npy");
  std::vector<std::string> bad{good.substr(0, 5), good.substr(0, 40), good + "x", good.substr(0, 170),
                               "x" + good};
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"<i8", "<f8"}, {"<i8", ">i8"}, {"False", "True "}, {"(3, 2)", "(3, 9)"}, {"shape", "shipe"}}) {
    std::string text = good;
    bad.push_back(text.replace(text.find(from), from.size(), to));
  }
  for (const std::string& content : bad) {
    write_file(folder / "bad.npy", content);
    CHECK_THROWS_AS(NpyFile(folder / "bad.npy"), UserError);
  }
}
