// How byte-level vocabularies spell bytes: printable Latin-1 stands for itself, the other 68 bytes for U+0100
// and up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shoal {

char32_t spelling_of_byte(unsigned char byte);

std::string spell_bytes(std::string_view bytes);

// The bytes a token's text stands for; nothing if a character is outside the alphabet. text is valid UTF-8.
std::optional<std::string> bytes_of_spelling(std::string_view text);

}  // namespace shoal
