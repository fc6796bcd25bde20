#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/error.h"
#include "data/bpe/bpe_tokenizer.h"
#include "data/tokenizer.h"
#include "data/tokenizer_files.h"

using namespace shoal;

namespace {

std::unique_ptr<Tokenizer> from_text(const std::string& json) {
  return std::make_unique<BpeTokenizer>(parse_tokenizer_json(json, "test.json"), "test.json", "test");
}

const Tokenizer& neox() {
  static const auto tokenizer = from_text(tokenizer_file("20B_tokenizer.json.zst"));
  return *tokenizer;
}

}  // namespace

TEST_CASE("byte tokenizer: bytes and back") {
  const auto tokenizer = open_tokenizer("byte");
  CHECK(tokenizer->vocab_size() == 257);
  CHECK(tokenizer->end_of_document() == 256);
  CHECK(tokenizer->encode("aé") == std::vector<int32_t>{97, 0xc3, 0xa9});
  CHECK(tokenizer->decode({97, 0xc3, 0xa9, 256}) == "aé");
  CHECK(tokenizer->decode({97, 0xc3}) == "a\xef\xbf\xbd");
  CHECK(tokenizer_identity("byte") == tokenizer->identity());
  CHECK(tokenizer->safe_cut("aé") == 1);
}

TEST_CASE("tokenizer: the golden ids of both vocabularies, and the text back") {
  const auto gpt2 = from_text(gpt2_tokenizer_json());
  CHECK(gpt2->vocab_size() == 50257);
  CHECK(gpt2->end_of_document() == 50256);
  CHECK(neox().vocab_size() == 50277);
  CHECK(neox().end_of_document() == 0);
  const auto golden = nlohmann::json::parse(
      read_file(std::string(SHOAL_SOURCE_DIR) + "/tests/data/tokenizers/golden_token_ids.json"));
  REQUIRE(golden["cases"].size() == 37);
  for (const auto& item : golden["cases"]) {
    const std::string text = item["text"];
    CHECK_MESSAGE(neox().encode(text) == item["neox20b"].get<std::vector<int32_t>>(), text);
    CHECK_MESSAGE(gpt2->encode(text) == item["gpt2"].get<std::vector<int32_t>>(), text);
    CHECK(gpt2->decode(gpt2->encode(text)) == text);
  }
}

TEST_CASE("tokenizer: NFC of the 20B vocabulary") {
  const auto equal = [](const char* a, const char* b) { return neox().encode(a) == neox().encode(b); };
  CHECK(equal("cafe\u0301", "caf\u00e9"));
  CHECK(equal("\u212b", "\u00c5"));
  CHECK(equal("\u1112\u1161\u11ab", "\ud55c"));               // Hangul
  CHECK(equal("q\u0307\u0323", "q\u0323\u0307"));             // marks are put in order
  CHECK(equal("\u0958", "\u0915\u093c"));                     // a composition that is excluded
  CHECK(!equal("\u05d0\u0301\u07fd", "\u05d0\u07fd\u0301"));  // a mark of Unicode 11 is none to NFC here
  CHECK(neox().decode(neox().encode("xe\u0301 e\u0301y\u0301")) == "x\u00e9 \u00e9\u00fd");
}

TEST_CASE("tokenizer: merging, short and long, against the definition") {
  const BpeDescription description = parse_tokenizer_json(gpt2_tokenizer_json(), "test.json");
  const Merger merger(description);
  std::map<std::pair<int32_t, int32_t>, size_t> ranks;
  for (size_t i = 0; i < description.merges.size(); ++i) {
    ranks[{description.merges[i].left, description.merges[i].right}] = i;
  }
  std::map<std::string, int32_t> bytes;
  for (const auto& token : description.vocab) bytes[token.bytes] = token.id;
  std::mt19937 random(3);
  for (size_t length : {1, 2, 3, 10, 50, 127, 128, 129, 200, 1000}) {
    for (const int alphabet : {1, 3, 6, 26}) {
      std::string text;
      for (size_t i = 0; i < length; ++i) text += char('a' + int(random() % uint32_t(alphabet)));
      std::vector<int32_t> expected;
      for (char c : text) expected.push_back(bytes[std::string(1, c)]);
      for (;;) {
        size_t best = description.merges.size(), at = 0;
        for (size_t i = 0; i + 1 < expected.size(); ++i) {
          const auto found = ranks.find({expected[i], expected[i + 1]});
          if (found != ranks.end() && found->second < best) best = found->second, at = i;
        }
        if (best == description.merges.size()) break;
        expected[at] = description.merges[best].result;
        expected.erase(expected.begin() + ptrdiff_t(at) + 1);
      }
      std::vector<int32_t> ids;
      merger.append(text, ids);
      CHECK(ids == expected);
    }
  }
}

TEST_CASE("tokenizer: cutting at safe places does not change the ids") {
  const std::string text =
      "One sentence, it's short.\n\n  Two   spaces <|endoftext|> and\ttabs\n\r\n caf\u00e9 \u4f60\u597d "
      "\u4e16\u754c 12 "
      "34, x <|padding|> y";
  for (size_t end = 1; end <= text.size(); ++end) {
    const std::string_view part = std::string_view(text).substr(0, end);
    const size_t cut = neox().safe_cut(part);
    if (cut == 0) continue;
    CHECK(cut <= end);
    auto ids = neox().encode(text.substr(0, cut));
    neox().encode_append(text.substr(cut), ids);
    CHECK_MESSAGE(ids == neox().encode(text), cut);
  }
  CHECK(neox().safe_cut(text) > 0);
}

TEST_CASE("tokenizer: many threads give the ids of one") {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += fmt::format("word{} number {} ", i % 97, i);
  const auto expected = neox().encode(text);
  std::vector<std::vector<int32_t>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = neox().encode(text); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == expected);
}

TEST_CASE("tokenizer: a file or its folder can be named, and what is missing is said") {
  const test::TempFolder folder;
  write_file(folder / "tokenizer.json", gpt2_tokenizer_json());
  const auto by_file = open_tokenizer(folder / "tokenizer.json");
  CHECK(open_tokenizer(folder.path())->identity() == by_file->identity());
  CHECK(tokenizer_identity(folder.path()) == by_file->identity());
  CHECK(by_file->identity().starts_with("bpe:"));
  CHECK_THROWS_WITH_AS(open_tokenizer(folder / "none.json"), doctest::Contains("train-tokenizer"), UserError);
}

TEST_CASE("tokenizer: ids without text, and incomplete characters") {
  const auto gpt2 = from_text(gpt2_tokenizer_json());
  CHECK(gpt2->decode({15496, 60000, -1, 995}) == "Hello world");
  const auto ids = gpt2->encode("\U0001f9ff");
  REQUIRE(ids.size() > 1);
  CHECK(gpt2->decode({ids[0]}) == "\xef\xbf\xbd");
}
