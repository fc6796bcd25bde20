#include <doctest/doctest.h>

#include <random>

#include "data/bpe/gpt2_splitter.h"
#include "data/bpe/pattern.h"
#include "data/bpe/pre_tokenizer.h"
#include "data/utf8.h"

using namespace shoal;

namespace {

using Pieces = std::vector<std::string>;

constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Pieces split(const std::vector<SplitStep>& steps, const std::string& text) {
  const PreTokenizer tokenizer(steps);
  PreTokenizer::State state;
  Pieces pieces;
  tokenizer.split(text, state, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

Pieces by_hand(const std::string& text) {
  return split({{SplitStep::Kind::gpt2, ""}}, text);
}
Pieces by_pattern(const std::string& text) {
  return split({{SplitStep::Kind::regex, kGpt2Pattern}}, text);
}

}  // namespace

TEST_CASE("splitter: the pattern of GPT-2 by hand and by PCRE2, on random text") {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  const Pattern unassigned(R"(\p{Cn})");  // by PCRE2's data, which are older than ours
  Pattern::State state;
  Pattern::Match match{};
  const char* fragments[] = {"'s",     "'re",    "'LL",        "''",     "' s",    " ",      "  ",
                             "   ",    "\n",     "\r\n",       "\t",     "\v",     "\x1c",   "\u0085",
                             "\u00a0", "\u2003", "\u3000",     "\u180e", "\u200b", "\u0301", "a",
                             "Zebra",  "1",      "23",         "\u0663", "\u00bd", "\u4f60", "!",
                             "...",    "\u00e9", "\U0001f600", "_",      "\u1160"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint32_t n = below(12); n > 0; --n) {
      if (below(5) > 0) {
        text += fragments[below(std::size(fragments))];
      } else {
        std::string character;
        append_utf8(character, char32_t(below(0x3000) + 1));
        if (!unassigned.find(character, 0, state, match)) text += character;
      }
    }
    REQUIRE_MESSAGE(by_hand(text) == by_pattern(text), text);
  }
}

TEST_CASE("splitter: every code point is of the class that PCRE2 says, except the newer ones") {
  const Pattern letter(R"(\A\p{L})"), number(R"(\A\p{N})"), space(R"(\A\s)"), unassigned(R"(\A\p{Cn})");
  Pattern::State state;
  Pattern::Match match{};
  const UnicodeTable& table = UnicodeTable::get();
  int wrong = 0, newer = 0;
  for (char32_t c = 0; c < 0x40000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    std::string text;
    append_utf8(text, c);
    CharClass expected = CharClass::other;
    if (letter.find(text, 0, state, match)) expected = CharClass::letter;
    if (number.find(text, 0, state, match)) expected = CharClass::number;
    if (space.find(text, 0, state, match)) expected = CharClass::space;
    if (expected == table.char_class(c)) continue;
    unassigned.find(text, 0, state, match) ? ++newer : ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(newer < 12000);
  CHECK(table.char_class(0x1c89) == CharClass::letter);   // Unicode 16.0
  CHECK(table.char_class(0x2ebf0) == CharClass::letter);  // Unicode 15.1
  CHECK(table.char_class(0x11bf0) == CharClass::number);
}

TEST_CASE("splitter: known pieces") {
  CHECK(by_hand("don't stop") == Pieces{"don", "'t", " stop"});
  CHECK(by_hand("a  b\n\n c ") == Pieces{"a", " ", " b", "\n\n", " c", " "});
  CHECK(by_hand("x \u00a0y") == Pieces{"x", " ", "\u00a0", "y"});
  CHECK(by_hand("'second 'LL") == Pieces{"'s", "econd", " '", "LL"});
  CHECK(by_hand("abc123!?") == Pieces{"abc", "123", "!?"});
  CHECK(by_hand("").empty());
  CHECK(by_hand("'") == Pieces{"'"});
}

TEST_CASE("pre-tokenizer: other steps") {
  using Kind = SplitStep::Kind;
  CHECK(split({{Kind::digits, ""}}, "ab12c") == Pieces{"ab", "1", "2", "c"});
  CHECK(split({{Kind::digit_runs, ""}}, "ab12c") == Pieces{"ab", "12", "c"});
  CHECK(split({{Kind::literal, "--"}}, "a--b--") == Pieces{"a", "--", "b", "--"});
  CHECK(split({{Kind::regex, "b+"}}, "abbc") == Pieces{"a", "bb", "c"});
  CHECK(split({{Kind::regex_only, "b+"}}, "abbcb") == Pieces{"bb", "b"});
  CHECK(split({{Kind::regex, "x*"}}, "ab") == Pieces{"ab"});
  CHECK(split({{Kind::prefix_space, ""}, {Kind::gpt2, ""}}, "a b") == Pieces{" a", " b"});
  CHECK(split({{Kind::prefix_space, ""}, {Kind::gpt2, ""}}, " a") == Pieces{" a"});
  CHECK(split({{Kind::digits, ""}, {Kind::gpt2, ""}}, "x 12") == Pieces{"x", " ", "1", "2"});
  // The pattern of Llama 3, with its groups of three digits.
  const std::string llama =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  CHECK(split({{Kind::regex, llama}}, "It'S 12345!\n\n ok") ==
        Pieces{"It", "'S", " ", "123", "45", "!\n\n", " ok"});
}
