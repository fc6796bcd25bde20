#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/bpe/bpe_tokenizer.h"
#include "data/bpe/byte_alphabet.h"

using namespace shoal;
using Json = nlohmann::json;

namespace {

// A small tokenizer: all bytes with their values as ids, "he" 256, "hel" 257, " w" 258.
Json small() {
  Json json;
  for (int byte = 0; byte < 256; ++byte)
    json["model"]["vocab"][spell_bytes(std::string(1, char(byte)))] = byte;
  json["model"]["vocab"]["he"] = 256;
  json["model"]["vocab"]["hel"] = 257;
  json["model"]["vocab"]["\u0120w"] = 258;
  json["model"]["merges"] = {"h e", "he l", "\u0120 w"};
  json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  return json;
}

std::vector<int32_t> encode(const Json& json, const std::string& text) {
  return BpeTokenizer(parse_tokenizer_json(json.dump(), "t.json"), "t.json", "t").encode(text);
}

std::string error_of(const Json& json) {
  try {
    parse_tokenizer_json(json.dump(), "t.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string error_with(const std::string& pointer, const Json& value) {
  Json json = small();
  json[Json::json_pointer(pointer)] = value;
  return error_of(json);
}

Json added(int id, const std::string& content, const Json& more) {
  Json token = {{"id", id}, {"content", content}, {"special", true}};
  token.update(more);
  Json json = small();
  json["added_tokens"] = {token};
  return json;
}

using Ids = std::vector<int32_t>;

}  // namespace

TEST_CASE("tokenizer.json: merges as text and as pairs") {
  CHECK(encode(small(), "hello w") == Ids{257, 'l', 'o', 258});
  Json pairs = small();
  pairs["model"]["merges"] =
      Json::array({Json::array({"h", "e"}), Json::array({"he", "l"}), Json::array({"\u0120", "w"})});
  CHECK(encode(pairs, "hello w") == Ids{257, 'l', 'o', 258});
}

TEST_CASE("tokenizer.json: ignore_merges takes a piece that is a token") {
  Json json = small();
  json["model"]["vocab"]["hello"] = 300;
  CHECK(encode(json, "hello") == Ids{257, 'l', 'o'});
  json["model"]["ignore_merges"] = true;
  CHECK(encode(json, "hello") == Ids{300});
}

TEST_CASE("tokenizer.json: added tokens") {
  CHECK(encode(added(300, "<x>", Json::object()), "a<x>b") == Ids{'a', 300, 'b'});
  CHECK(encode(added(300, "<x>", {{"lstrip", true}}), "a  <x> b") == Ids{'a', 300, ' ', 'b'});
  CHECK(encode(added(300, "<x>", {{"rstrip", true}}), "a <x> \nb") == Ids{'a', ' ', 300, 'b'});
  CHECK(encode(added(300, "xy", {{"single_word", true}}), "xy axy xyb -xy") ==
        Ids{300, ' ', 'a', 'x', 'y', ' ', 'x', 'y', 'b', ' ', '-', 300});
  CHECK(encode(added(300, "xy", {{"single_word", true}}), "\u00e9xy") == Ids{0xc3, 0xa9, 'x', 'y'});

  Json longest = added(300, "<x>", Json::object());
  longest["added_tokens"].push_back({{"id", 301}, {"content", "<x>y"}, {"special", true}});
  CHECK(encode(longest, "<x>y<x>z") == Ids{301, 300, 'z'});

  // A normalised token is looked for in the normalised text, and is itself normalised.
  Json normal = added(300, "\u212b", {{"normalized", true}});
  normal["normalizer"] = {{"type", "NFC"}};
  CHECK(encode(normal, "A\u030a") == Ids{300});
  Json raw = added(300, "\u212b", {{"normalized", false}});
  raw["normalizer"] = {{"type", "NFC"}};
  CHECK(encode(raw, "A\u030a") == Ids{0xc3, 0x85});
  CHECK(encode(raw, "\u212b") == Ids{300});
}

TEST_CASE("tokenizer.json: an added token is decoded as its own text") {
  const Json json = added(300, "\u00e9 x", Json::object());
  const BpeTokenizer tokenizer(parse_tokenizer_json(json.dump(), "t.json"), "t.json", "t");
  CHECK(tokenizer.decode({300}) == "\u00e9 x");
}

TEST_CASE("tokenizer.json: compatibility forms and sequences") {
  Json json = small();
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}}}};
  CHECK(encode(json, "\ufb01") == Ids{'f', 'i'});
  json["normalizer"] = {{"type", "NFD"}};
  CHECK(encode(json, "\u00e9") == Ids{'e', 0xcc, 0x81});
}

TEST_CASE("tokenizer.json: a prefix space and a pattern of its own") {
  Json json = small();
  json["pre_tokenizer"]["add_prefix_space"] = true;
  CHECK(encode(json, "w") == Ids{258});
  json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"}, {"pattern", {{"Regex", "h"}}}, {"behavior", "Isolated"}, {"invert", false}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  CHECK(encode(json, "hel") == Ids{'h', 'e', 'l'});
}

TEST_CASE("tokenizer.json: what is not supported is refused with its place") {
  CHECK(error_of(small()) == "");
  const std::vector<std::pair<std::string, Json>> wrong = {
      {"/model/type", "WordPiece"},
      {"/model/dropout", 0.1},
      {"/model/byte_fallback", true},
      {"/model/continuing_subword_prefix", "##"},
      {"/model/end_of_word_suffix", "</w>"},
      {"/model/vocab", nullptr},
      {"/model/vocab/he", -1},
      {"/model/vocab/he", "x"},
      {"/model/vocab/he", 1e300},
      {"/model/vocab/he", 18446744073709551615ULL},
      {"/model/merges", 5},
      {"/model/merges/0", "h"},
      {"/model/merges/0", "h e l"},
      {"/model/merges/0", "q q"},
      {"/model/merges/0", Json::array({"h"})},
      {"/truncation", {{"max_length", 512}}},
      {"/padding", {{"strategy", "BatchLongest"}}},
      {"/normalizer", {{"type", "Lowercase"}}},
      {"/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "Prepend"}}}}}},
      {"/pre_tokenizer", nullptr},
      {"/pre_tokenizer", {{"type", "Whitespace"}}},
      {"/pre_tokenizer", {{"type", "Metaspace"}}},
      {"/pre_tokenizer/use_regex", 3},
      {"/decoder", {{"type", "WordPiece"}}},
      {"/post_processor", {{"type", "Unknown"}}},
      {"/added_tokens", {{{"id", 5}, {"content", "<x>"}}}},
      {"/added_tokens", {{{"id", 300}, {"content", ""}}}},
      {"/added_tokens", {{{"id", 300}, {"content", "he"}}}},
      {"/added_tokens", 7},
  };
  for (const auto& [pointer, value] : wrong) {
    const std::string error = error_with(pointer, value);
    CHECK_MESSAGE(error.find("t.json: " + pointer) != std::string::npos, pointer, " ", error);
  }
  CHECK(error_with("/model/vocab/he", 5).find("the id is also that of") != std::string::npos);
  const auto split = [](const Json& step) {
    Json json = small();
    json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {step, {{"type", "ByteLevel"}}}}};
    return error_of(json);
  };
  CHECK(split({{"type", "Split"}, {"pattern", {{"Regex", "("}}}, {"behavior", "Isolated"}})
            .find("/pre_tokenizer/pretokenizers/0/pattern/Regex") != std::string::npos);
  CHECK(split({{"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "MergedWithNext"}})
            .find("/pre_tokenizer/pretokenizers/0/behavior") != std::string::npos);
  CHECK(split({{"type", "ByteLevel"}}).find("behind ByteLevel") != std::string::npos);
  Json no_byte = small();
  no_byte["model"]["vocab"].erase("A");
  CHECK(error_of(no_byte).find("has no token for the byte 0x41") != std::string::npos);
  CHECK_THROWS_WITH_AS(parse_tokenizer_json("{\"model\": ", "t.json"), doctest::Contains("t.json: byte"),
                       UserError);
  CHECK_THROWS_AS(parse_tokenizer_json("[]", "t.json"), UserError);
}

TEST_CASE("tokenizer.json: what is written is read back") {
  Json json = added(300, "<|endoftext|>", {{"normalized", false}});
  json["normalizer"] = {{"type", "NFC"}};
  const BpeDescription first = parse_tokenizer_json(json.dump(), "t.json");
  const BpeDescription second = parse_tokenizer_json(to_tokenizer_json(first), "u.json");
  const BpeTokenizer a(first, "", ""), b(second, "", "");
  const std::string text = "hello \u00e9 w<|endoftext|>";
  CHECK(a.encode(text) == b.encode(text));
  CHECK(b.end_of_document() == 300);
}
