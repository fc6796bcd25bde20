// UTF-8: checking, reading and writing code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

// The offset of the first byte that does not belong to a well-formed sequence, or npos.
size_t find_invalid_utf8(std::string_view text);

// The text with each maximal ill-formed part replaced by U+FFFD, as in the Unicode standard, section 3.9.
std::string replace_invalid_utf8(std::string_view text);

// The code point at `at` of valid UTF-8; moves `at` behind it.
inline char32_t next_code_point(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return uint32_t(uint8_t(text[i])); };
  const uint32_t lead = byte(at);
  if (lead < 0x80) return char32_t(text[at++]);
  if (lead < 0xe0) {
    at += 2;
    return (lead & 0x1f) << 6 | (byte(at - 1) & 0x3f);
  }
  if (lead < 0xf0) {
    at += 3;
    return (lead & 0x0f) << 12 | (byte(at - 2) & 0x3f) << 6 | (byte(at - 1) & 0x3f);
  }
  at += 4;
  return (lead & 0x07) << 18 | (byte(at - 3) & 0x3f) << 12 | (byte(at - 2) & 0x3f) << 6 |
         (byte(at - 1) & 0x3f);
}

void append_utf8(std::string& text, char32_t code_point);

}  // namespace shoal
