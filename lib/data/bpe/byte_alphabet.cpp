#include "data/bpe/byte_alphabet.h"

#include <array>

#include "data/utf8.h"

namespace shoal {

namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr std::array<char32_t, 256> make_spellings() {
  std::array<char32_t, 256> spellings{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    spellings[byte] = stands_for_itself(byte) ? char32_t(byte) : next++;
  return spellings;
}

constexpr auto kSpellings = make_spellings();
constexpr char32_t kEnd = 0x100 + 68;

constexpr std::array<int, kEnd> make_bytes() {
  std::array<int, kEnd> bytes{};
  for (int& byte : bytes) byte = -1;
  for (int byte = 0; byte < 256; ++byte) bytes[kSpellings[size_t(byte)]] = byte;
  return bytes;
}

constexpr auto kBytes = make_bytes();

}  // namespace

char32_t spelling_of_byte(unsigned char byte) {
  return kSpellings[byte];
}

std::string spell_bytes(std::string_view bytes) {
  std::string text;
  for (char c : bytes) append_utf8(text, spelling_of_byte(static_cast<unsigned char>(c)));
  return text;
}

std::optional<std::string> bytes_of_spelling(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c >= kEnd || kBytes[c] < 0) return std::nullopt;
    bytes += char(kBytes[c]);
  }
  return bytes;
}

}  // namespace shoal
