#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/error.h"
#include "data/files.h"
#include "data/token_file.h"
#include "data/token_file_writer.h"

using namespace shoal;

namespace {

using Documents = std::vector<std::vector<int32_t>>;

Documents random_documents(int count, int32_t vocab_size, int longest, uint32_t seed) {
  std::mt19937 random(seed);
  Documents documents;
  for (int i = 0; i < count; ++i) {
    documents.emplace_back(random() % uint32_t(longest + 1));
    for (int32_t& id : documents.back()) id = int32_t(random() % uint32_t(vocab_size));
  }
  return documents;
}

void write(const std::string& prefix, const Documents& documents, int64_t vocab_size) {
  TokenFileWriter writer(prefix, {.vocab_size = vocab_size, .tokenizer = "byte", .end_of_document = -1});
  for (const auto& document : documents) {
    // In two pieces, as long documents come.
    const auto half = int64_t(document.size() / 2);
    writer.append(document.data(), half);
    writer.append(document.data() + half, int64_t(document.size()) - half);
    writer.end_document();
  }
  writer.finish();
}

Documents read_all(const TokenFile& file) {
  Documents documents;
  for (int64_t d = 0; d < file.num_documents(); ++d) {
    documents.emplace_back(size_t(file.document_size(d)));
    file.read(file.document_begin(d), file.document_size(d), documents.back().data());
  }
  return documents;
}

std::string error_of(const std::string& prefix) {
  try {
    read_all(TokenFile(prefix));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

template <typename T>
std::string little_endian(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// An index built by hand from the format's description, independent of the writer.
std::string index_by_hand(uint8_t code, const std::vector<int32_t>& sizes, int item) {
  std::string index("MMIDIDX\0\0", 9);
  index += little_endian<uint64_t>(1) + char(code) + little_endian<uint64_t>(sizes.size()) +
           little_endian<uint64_t>(sizes.size() + 1);
  for (int32_t size : sizes) index += little_endian(size);
  int64_t pointer = 0;
  for (int32_t size : sizes) {
    index += little_endian(pointer);
    pointer += int64_t(size) * item;
  }
  for (size_t i = 0; i <= sizes.size(); ++i) index += little_endian(int64_t(i));
  return index;
}

}  // namespace

TEST_CASE("token file: what is written is read back") {
  const test::TempFolder folder;
  for (const int32_t vocab_size : {257, 50277, 65499, 65500, 200000}) {
    for (const int longest : {0, 7, 200000}) {
      const auto documents = random_documents(12, vocab_size, longest, uint32_t(vocab_size + longest));
      write(folder / "set", documents, vocab_size);
      const TokenFile file(folder / "set");
      CHECK(file.type() == (vocab_size < 65500 ? TokenType::u16 : TokenType::i32));
      CHECK(read_all(file) == documents);
      REQUIRE(file.meta() != nullptr);
      CHECK(file.meta()->vocab_size == vocab_size);
    }
  }
}

TEST_CASE("token file: the index has the bytes of the published format") {
  const test::TempFolder folder;
  write(folder / "set", {{1, 2, 3}, {}, {4, 5}}, 300);
  CHECK(read_file(folder / "set.idx") == index_by_hand(8, {3, 0, 2}, 2));
  CHECK(read_file(folder / "set.bin") == std::string("\1\0\2\0\3\0\4\0\5\0", 10));
}

TEST_CASE("token file: files of other programs, in every integer type, without a sidecar") {
  const test::TempFolder folder;
  const std::vector<std::pair<int, int>> code_and_bytes{{1, 1}, {2, 1}, {3, 2}, {4, 4}, {5, 8}, {8, 2}};
  for (const auto& [code, bytes] : code_and_bytes) {
    write_file(folder / "set.idx", index_by_hand(uint8_t(code), {2, 1}, bytes));
    std::string bin;
    for (int64_t id : {100, 7, 3}) bin += little_endian(id).substr(0, size_t(bytes));
    write_file(folder / "set.bin", bin);
    CHECK(read_all(TokenFile(folder / "set")) == Documents{{100, 7}, {3}});
  }
}

TEST_CASE("token file: negative and too large ids are errors with the byte") {
  const test::TempFolder folder;
  write_file(folder / "set.idx", index_by_hand(4, {2}, 4));
  write_file(folder / "set.bin", little_endian(int32_t(5)) + little_endian(int32_t(-1)));
  CHECK(error_of(folder / "set").find("set.bin: byte 4") != std::string::npos);
  write_file(folder / "set.idx", index_by_hand(5, {2}, 8));
  write_file(folder / "set.bin", little_endian(int64_t(5)) + little_endian(int64_t(1) << 32));
  CHECK(error_of(folder / "set").find("set.bin: byte 8") != std::string::npos);
}

TEST_CASE("token file: unsupported formats are named") {
  const test::TempFolder folder;
  write_file(folder / "set.bin", std::string(6, '\0'));
  const auto error = [&](const std::string& index) {
    write_file(folder / "set.idx", index);
    return error_of(folder / "set");
  };
  const std::string good = index_by_hand(8, {2, 1}, 2);
  CHECK(error(good) == "");
  CHECK(error(std::string("TNTIDX\0\0", 8) + std::string(40, '\1')).find("legacy") != std::string::npos);
  CHECK(error("MMIDIDX").find("not a token index") != std::string::npos);
  CHECK(error("").find("not a token index") != std::string::npos);
  CHECK(error(good.substr(0, 20)).find("inside the header") != std::string::npos);
  for (const char code : {char(6), char(7)}) {
    std::string floats = good;
    floats[17] = code;
    CHECK(error(floats).find("floating-point") != std::string::npos);
  }
  std::string version = good;
  version[9] = 2;
  CHECK(error(version).find("byte 9: has version 2") != std::string::npos);
  CHECK(error(good + std::string(2, '\0')).find("multimodal") != std::string::npos);
  std::string many = good;
  many[25] = char(0x7f);  // the top byte of the number of sequences
  CHECK(error(many).find("byte 18: announces") != std::string::npos);
  write_file(folder / "set.bin", std::string(5, '\0'));
  CHECK(error(good).find("behind the end of the .bin") != std::string::npos);
  write_file(folder / "set.bin", std::string(8, '\0'));
  CHECK(error(good).find("hold 6 bytes, but the .bin has 8") != std::string::npos);
}

TEST_CASE("token file: an index merged by GPT-NeoX, whose doc_idx stops early, is read") {
  const test::TempFolder folder;
  std::string index = index_by_hand(8, {2, 1}, 2);
  const uint64_t entries = 2;
  std::memcpy(&index[26], &entries, 8);
  index.resize(index.size() - 8);
  write_file(folder / "set.idx", index);
  write_file(folder / "set.bin", std::string(6, '\1'));
  const TokenFile file(folder / "set");
  CHECK(file.index().num_documents() == -1);
  CHECK(file.num_documents() == 2);
}

// Each bit of each file: with the sidecar nothing goes unnoticed.
TEST_CASE("token file: any flipped bit and any truncation is an error") {
  const test::TempFolder folder;
  write(folder / "set", {{1, 2, 3}, {}, {4, 5}, {6}}, 300);
  for (const char* name : {"set.idx", "set.bin", "set.meta.json"}) {
    const std::string good = read_file(folder / name);
    const bool is_long = good.size() > 500;  // of the sidecar one bit a byte is enough
    for (size_t bit = 0; bit < good.size() * 8; bit += is_long ? 9 : 1) {
      std::string bad = good;
      bad[bit / 8] = char(bad[bit / 8] ^ (1 << (bit % 8)));
      write_file(folder / name, bad);
      const std::string error = error_of(folder / "set");
      if (std::string(name) == "set.meta.json") {
        // White space and the like may change, and then everything is still as it was.
        if (error != "") continue;
        const TokenFile file(folder / "set");
        CHECK(to_json(*file.meta()) == good);
      } else {
        CHECK_MESSAGE(error != "", name, " bit ", bit);
      }
    }
    for (size_t length = 0; length < good.size(); ++length) {
      if (std::string(name) == "set.meta.json" && length + 1 == good.size()) continue;  // the newline
      write_file(folder / name, good.substr(0, length));
      CHECK_MESSAGE(error_of(folder / "set") != "", name, " length ", length);
    }
    write_file(folder / name, good);
  }
  CHECK(error_of(folder / "set") == "");
}

TEST_CASE("token file: without the sidecar, no flipped bit in sizes, pointers or header goes unnoticed") {
  const test::TempFolder folder;
  write(folder / "set", {{1, 2, 3}, {}, {4, 5}, {6}}, 300);
  std::filesystem::remove(folder / "set.meta.json");
  const std::string good = read_file(folder / "set.idx");
  const size_t doc_idx = 34 + 12 * 4;
  for (size_t bit = 0; bit < doc_idx * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = char(bad[bit / 8] ^ (1 << (bit % 8)));
    write_file(folder / "set.idx", bad);
    // The types of two bytes differ only in what ids at or past 2^15 mean.
    if (bit / 8 == 17 && bad[17] == char(TokenType::i16)) continue;
    CHECK_MESSAGE(error_of(folder / "set") != "", "bit ", bit);
  }
}

TEST_CASE("token file: damage far inside a large .bin is found when it is touched") {
  const test::TempFolder folder;
  write(folder / "set", {std::vector<int32_t>(1000000, 7)}, 300);
  std::string bin = read_file(folder / "set.bin");
  bin[1500000] = 9;
  write_file(folder / "set.bin", bin);
  const TokenFile file(folder / "set");
  std::vector<int32_t> ids(100);
  CHECK_NOTHROW(file.read(0, 100, ids.data()));
  CHECK_THROWS_AS(file.read(740000, 100, ids.data()), UserError);
  CHECK_THROWS_AS(file.verify(0, file.num_tokens()), UserError);
}

TEST_CASE("token file: an unfinished writer leaves nothing, and the old pair whole") {
  const test::TempFolder folder;
  write(folder / "set", {{1, 2}}, 300);
  {
    TokenFileWriter writer(folder / "set", {.vocab_size = 300, .tokenizer = "", .end_of_document = -1});
    const int32_t id = 5;
    writer.append(&id, 1);
  }
  CHECK(read_all(TokenFile(folder / "set")) == Documents{{1, 2}});
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  CHECK(files == 3);
}

TEST_CASE("token file: an empty set, and names that are wrong") {
  const test::TempFolder folder;
  write(folder / "sub/set", {}, 300);
  CHECK(TokenFile(folder / "sub/set").num_tokens() == 0);
  CHECK(error_of(folder / "none").find("does not exist") != std::string::npos);
  CHECK(error_of(folder / "sub/set.bin").find("leave .bin or .idx away") != std::string::npos);
}
