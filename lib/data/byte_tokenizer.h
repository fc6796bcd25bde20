// The tokenizer "byte": an id for each byte, and one that ends a document.
#pragma once

#include "data/tokenizer.h"

namespace shoal {

class ByteTokenizer : public Tokenizer {
 public:
  static constexpr int32_t kEndOfDocument = 256;

  int64_t vocab_size() const override { return 257; }
  std::vector<int32_t> encode(std::string_view text) const override;
  void encode_append(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decode(const std::vector<int32_t>& ids) const override;
  int32_t end_of_document() const override { return kEndOfDocument; }
  std::string describe() const override { return "bytes, 257 ids"; }
  size_t safe_cut(std::string_view text) const override;
  std::string identity() const override { return "byte"; }
};

}  // namespace shoal
