#include "data/byte_tokenizer.h"

#include "data/utf8.h"

namespace shoal {

std::vector<int32_t> ByteTokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  encode_append(text, ids);
  return ids;
}

void ByteTokenizer::encode_append(std::string_view text, std::vector<int32_t>& ids) const {
  const size_t at = ids.size();
  ids.resize(at + text.size());
  for (size_t i = 0; i < text.size(); ++i) ids[at + i] = uint8_t(text[i]);
}

// Anywhere would do, but parts should be valid UTF-8 where the whole is.
size_t ByteTokenizer::safe_cut(std::string_view text) const {
  size_t at = text.size();
  while (at > 0 && (static_cast<unsigned char>(text[--at]) & 0xc0) == 0x80) {
  }
  return at;
}

std::string ByteTokenizer::decode(const std::vector<int32_t>& ids) const {
  std::string text;
  for (int32_t id : ids) {
    if (id >= 0 && id < 256) text += char(id);  // the end of a document has no text
  }
  return replace_invalid_utf8(text);
}

}  // namespace shoal
