#include "data/utf8.h"

#include <algorithm>
#include <cstring>

namespace shoal {

namespace {

// The length of the well-formed sequence at the start of text, or minus the length of the ill-formed part
// there.
int sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte's range keeps out overlong forms, surrogates and what is past U+10FFFF.
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return -1;
  for (int i = 2; i < length; ++i) {
    if ((byte(size_t(i)) & 0xc0) != 0x80) return -i;
  }
  return length;
}

size_t ascii_prefix(std::string_view text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080ULL) != 0) break;
  }
  while (at < text.size() && uint8_t(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0;;) {
    at += ascii_prefix(text.substr(at));
    if (at >= text.size()) return std::string_view::npos;
    const int length = sequence_length(text.substr(at));
    if (length < 0) return at;
    at += size_t(length);
  }
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t good = std::min(find_invalid_utf8(text.substr(at)), text.size() - at);
    result += text.substr(at, good);
    at += good;
    if (at >= text.size()) break;
    result += "\xef\xbf\xbd";
    at += size_t(-sequence_length(text.substr(at)));
  }
  return result;
}

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += char(c);
  } else if (c < 0x800) {
    text += char(0xc0 | (c >> 6));
    text += char(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    text += char(0xe0 | (c >> 12));
    text += char(0x80 | ((c >> 6) & 0x3f));
    text += char(0x80 | (c & 0x3f));
  } else {
    text += char(0xf0 | (c >> 18));
    text += char(0x80 | ((c >> 12) & 0x3f));
    text += char(0x80 | ((c >> 6) & 0x3f));
    text += char(0x80 | (c & 0x3f));
  }
}

}  // namespace shoal
