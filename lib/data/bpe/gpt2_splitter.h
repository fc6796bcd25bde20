// The pattern that GPT-2's tokenizer cuts text with, before byte pairs are merged:
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// written by hand: a piece is a contraction, or an optional space and a run of one class, or white space that
// leaves its last character to what follows. A test holds it against the pattern itself.
#pragma once

#include <string_view>

#include "data/bpe/unicode_table.h"
#include "data/utf8.h"

namespace shoal {

class Gpt2Splitter {
 public:
  Gpt2Splitter() : table_(UnicodeTable::get()) {
    for (char32_t c = 0; c < 128; ++c) ascii_[c] = uint8_t(table_.char_class(c));
    for (size_t byte = 128; byte < 256; ++byte) ascii_[byte] = kNotAscii;
  }

  // The end of the piece that begins at `at`; at < text.size().
  size_t next(std::string_view text, size_t at) const {
    if (text[at] == '\'') {
      if (const size_t length = contraction(text.substr(at)); length > 0) return at + length;
    }
    size_t run = at;
    if (text[at] == ' ' && at + 1 < text.size()) ++run;
    size_t after = run;
    CharClass char_class = classify(text, after);
    if (char_class == CharClass::space) {
      after = at;
      char_class = classify(text, after);
    }
    if (char_class == CharClass::space) return end_of_space(text, after, at);
    return end_of_run(text, after, char_class);
  }

 private:
  static constexpr uint8_t kNotAscii = 4;

  // The class of the character at `at`; moves `at` behind it.
  CharClass classify(std::string_view text, size_t& at) const {
    const uint8_t quick = ascii_[uint8_t(text[at])];
    if (quick != kNotAscii) return ++at, CharClass(quick);
    return table_.char_class(next_code_point(text, at));
  }

  size_t end_of_run(std::string_view text, size_t at, CharClass char_class) const {
    while (at < text.size()) {
      size_t after = at;
      if (classify(text, after) != char_class) break;
      at = after;
    }
    return at;
  }

  // at: behind the first character, which began at `begin`.
  size_t end_of_space(std::string_view text, size_t at, size_t begin) const {
    size_t last = begin;
    while (at < text.size()) {
      size_t after = at;
      if (classify(text, after) != CharClass::space) return last > begin ? last : at;
      last = at;
      at = after;
    }
    return at;
  }

  static size_t contraction(std::string_view text) {
    if (text.size() < 2) return 0;
    const char c = text[1];
    if (c == 's' || c == 't' || c == 'm' || c == 'd') return 2;
    if (text.size() < 3) return 0;
    const char d = text[2];
    return (d == 'e' && (c == 'r' || c == 'v')) || (c == 'l' && d == 'l') ? 3 : 0;
  }

  const UnicodeTable& table_;
  uint8_t ascii_[256];
};

}  // namespace shoal
