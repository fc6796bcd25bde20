#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>

#include "base/error.h"
#include "data/files.h"
#include "data_tools/block_reader.h"
#include "data_tools/byte_stream.h"
#include "data_tools/documents.h"
#include "data_tools/input_files.h"

using namespace shoal;

namespace {

std::string gzipped(const std::string& text) {
  z_stream state{};
  deflateInit2(&state, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string result(text.size() + 1000, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = uInt(text.size());
  state.next_out = reinterpret_cast<Bytef*>(result.data());
  state.avail_out = uInt(result.size());
  deflate(&state, Z_FINISH);
  result.resize(result.size() - state.avail_out);
  deflateEnd(&state);
  return result;
}

std::string zstd(const std::string& text) {
  std::string result(ZSTD_compressBound(text.size()), '\0');
  result.resize(ZSTD_compress(result.data(), result.size(), text.data(), text.size(), 3));
  return result;
}

std::string read_stream(const std::string& path, size_t step) {
  const auto stream = open_stream(path);
  std::string result, buffer(step, '\0');
  for (size_t n; (n = stream->read(buffer.data(), step)) > 0;) result.append(buffer, 0, n);
  CHECK(stream->consumed() == int64_t(std::filesystem::file_size(path)));
  return result;
}

std::string random_text(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) text += char('a' + random() % 4);
  return text;
}

using Documents = std::vector<std::string>;

// The documents of a file, read in blocks of about block_bytes.
Documents documents_of(const std::string& path, const Layout& layout, size_t block_bytes,
                       bool skip_invalid = false, int* invalid = nullptr) {
  const auto before_space = [](std::string_view text) {
    const size_t at = text.find_last_of(' ');
    return at == std::string_view::npos ? 0 : at;
  };
  BlockReader reader(find_input_files({path}), layout, before_space, block_bytes);
  Documents documents;
  std::string open;
  bool is_open = false, is_invalid = false;
  for (Block block; reader.next(block);) {
    for_each_document(block, layout, skip_invalid, [&](const Document& document) {
      CHECK(document.begins == !is_open);
      open += document.text;
      is_invalid |= document.invalid;
      is_open = !document.ends;
      if (is_open) return;
      if (!is_invalid) documents.push_back(open);
      if (is_invalid && invalid != nullptr) ++*invalid;
      open.clear();
      is_invalid = false;
    });
  }
  CHECK(!is_open);
  return documents;
}

std::string error_of(const std::string& path, const Layout& layout) {
  try {
    documents_of(path, layout, 1 << 20);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

Layout layout_of(Layout::Kind kind, const std::string& separator = "") {
  Layout layout;
  layout.kind = kind;
  layout.separator = separator;
  return layout;
}

}  // namespace

TEST_CASE("byte stream: plain, gzip and zstd, also several parts in a row") {
  const test::TempFolder folder;
  for (const size_t size : {0, 1, 5, 1000, 700000}) {
    const std::string a = random_text(size, 1), b = random_text(size / 2, 2);
    write_file(folder / "plain", a + b);
    write_file(folder / "gzip", gzipped(a) + gzipped(b));
    write_file(folder / "zstd", zstd(a) + zstd(b));
    for (const char* name : {"plain", "gzip", "zstd"}) {
      CHECK(read_stream(folder / name, 1 << 20) == a + b);
      if (size < 10000) CHECK(read_stream(folder / name, 7) == a + b);
    }
  }
}

TEST_CASE("byte stream: damaged and cut off files are errors") {
  const test::TempFolder folder;
  const std::string text = random_text(100000, 3);
  for (const std::string& good : {gzipped(text), zstd(text)}) {
    for (const size_t length : {size_t(10), good.size() / 2, good.size() - 1}) {
      write_file(folder / "cut", good.substr(0, length));
      CHECK_THROWS_AS(read_stream(folder / "cut", 4096), RuntimeFailure);
    }
    std::string bad = good;
    bad[good.size() / 2] = char(bad[good.size() / 2] ^ 0x55);
    write_file(folder / "bad", bad);
    std::string result;
    try {
      result = read_stream(folder / "bad", 4096);
    } catch (const RuntimeFailure&) {
      continue;
    }
    CHECK(result != text);  // zstd without a checksum: the letters may only be others
  }
  CHECK_THROWS_AS(open_stream(folder / "none"), UserError);
}

TEST_CASE("input files: folders are searched in order") {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder / "in/b");
  std::filesystem::create_directories(folder / "in/.git");
  for (const char* name : {"in/z", "in/b/y", "in/a", "in/.hidden", "in/.git/x"})
    write_file(folder / name, "text");
  const auto files = find_input_files({folder / "in/z", folder / "in", "-"});
  REQUIRE(files.size() == 5);
  CHECK(files[1].path == folder / "in/a");
  CHECK(files[2].path == folder / "in/b/y");
  CHECK(files[3].path == folder / "in/z");
  CHECK(files[3].bytes == 4);
  CHECK_THROWS_AS(find_input_files({folder / "none"}), UserError);
  std::filesystem::create_directories(folder / "empty");
  CHECK_THROWS_AS(find_input_files({folder / "empty"}), UserError);
}

TEST_CASE("documents: every layout") {
  const test::TempFolder folder;
  const std::string path = folder / "text";
  const auto read = [&](const std::string& text, const Layout& layout) {
    write_file(path, text);
    return documents_of(path, layout, 1 << 20);
  };
  using Kind = Layout::Kind;
  CHECK(read("a\n\nb", layout_of(Kind::automatic)) == Documents{"a\n\nb"});
  CHECK(read("", layout_of(Kind::file)) == Documents{""});
  CHECK(read("a\n\r\nb c\r\n\nd", layout_of(Kind::line)) == Documents{"a", "b c", "d"});
  CHECK(read("\n\na\nb\n\n\nc\r\n\r\nd\n", layout_of(Kind::blank_line)) == Documents{"a\nb", "c", "d"});
  CHECK(read("a--b----c--", layout_of(Kind::separator, "--")) == Documents{"a", "b", "c"});
  CHECK(read("{\"text\": \"a\\n\\u00e9\"}\n\n{\"n\": [{\"text\": 1}], \"text\": \"b\"}\r\n{\"text\": \"\"}\n",
             layout_of(Kind::jsonl)) == Documents{"a\n\u00e9", "b", ""});
  Layout other = layout_of(Kind::jsonl);
  other.text_key = "body";
  CHECK(read("{\"text\": 1, \"body\": \"x\"}", other) == Documents{"x"});
  write_file(folder / "x.jsonl.gz", gzipped("{\"text\": \"a\"}\n"));
  CHECK(documents_of(folder / "x.jsonl.gz", Layout{}, 1 << 20) == Documents{"a"});
}

TEST_CASE("documents: blocks of any size give the same documents") {
  const test::TempFolder folder;
  std::mt19937 random(5);
  using Kind = Layout::Kind;
  for (int round = 0; round < 60; ++round) {
    std::string text;
    const char* parts[] = {"word", " ", "\n", "\n\n", "\r\n", "\r\n\r\n", "--", "-", "\u00e9", "  "};
    for (int i = 0; i < 60; ++i) text += parts[random() % std::size(parts)];
    write_file(folder / "text", text);
    for (const Layout& layout : {layout_of(Kind::file), layout_of(Kind::line), layout_of(Kind::blank_line),
                                 layout_of(Kind::separator, "--"), layout_of(Kind::separator, " -- ")}) {
      const Documents whole = documents_of(folder / "text", layout, 1 << 20);
      for (const size_t block : {1, 2, 7, 30}) {
        CHECK_MESSAGE(documents_of(folder / "text", layout, block) == whole, text, " ", int(layout.kind), " ",
                      block);
      }
    }
  }
}

TEST_CASE("documents: what is invalid is named with file, line and byte, or skipped and counted") {
  const test::TempFolder folder;
  const std::string path = folder / "bad";
  const auto error = [&](const std::string& text, const Layout& layout) {
    write_file(path, text);
    return error_of(path, layout);
  };
  using Kind = Layout::Kind;
  const auto jsonl = layout_of(Kind::jsonl);
  const std::string good = "{\"text\": \"a\"}\n";
  CHECK(error(good + good + "{\"text\": \"a}\n", jsonl)
            .find("bad:3 (byte 13 of the line): is not valid JSON") != std::string::npos);
  CHECK(error(good + "{\"texts\": \"a\"}\n", jsonl).find("bad:2 (byte 1 of the line): has no key \"text\"") !=
        std::string::npos);
  CHECK(error("{\"text\": 3}\n", jsonl).find("has no string at the key") != std::string::npos);
  CHECK(error("[\"text\", \"a\"]\n", jsonl).find("is not a JSON object") != std::string::npos);
  CHECK(error("{\"text\": \"\xff\"}\n", jsonl).find("bad:1 (byte 11 of the line): is not valid JSON") !=
        std::string::npos);
  CHECK(
      error("one\ntwo\xc3\n", layout_of(Kind::file)).find("bad:2 (byte 4 of the line): is not valid UTF-8") !=
      std::string::npos);
  int invalid = 0;
  write_file(path, good + "nonsense\n" + good);
  CHECK(documents_of(path, jsonl, 1 << 20, true, &invalid) == Documents{"a", "a"});
  CHECK(invalid == 1);
  write_file(path, "a b c d\xff e f g--h i j k l m");
  for (const size_t block : {3, 1000}) {
    invalid = 0;
    CHECK(documents_of(path, layout_of(Kind::separator, "--"), block, true, &invalid) ==
          Documents{"h i j k l m"});
    CHECK(invalid == 1);
  }
}
