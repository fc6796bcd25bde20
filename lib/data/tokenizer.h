// Text to token ids and back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab_size() const = 0;
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;  // thread-safe; text is valid UTF-8
  virtual void encode_append(std::string_view text, std::vector<int32_t>& ids) const = 0;
  virtual std::string decode(const std::vector<int32_t>& ids) const = 0;  // invalid UTF-8 becomes U+FFFD
  virtual int32_t end_of_document() const = 0;                            // -1: none
  virtual std::string describe() const = 0;

  // The last place where text can be cut so that both parts, encoded alone, give the ids of the whole,
  // whatever follows it; 0 if none is known. It lets documents that do not fit into memory be encoded in
  // pieces.
  virtual size_t safe_cut(std::string_view text) const = 0;

  virtual std::string identity() const = 0;  // equal for tokenizers that give equal ids: "byte", "bpe:<hash>"
};

struct TokenizerOptions {
  // False: texts like "<|endoftext|>" are encoded as any other text. For corpora that are not trusted.
  bool special_tokens = true;
};

// "byte", or the path of a Hugging Face tokenizer.json or of its folder. Throws UserError naming the file and
// what is not supported.
std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name, const TokenizerOptions& options = {});

// identity() of a tokenizer, without building it.
std::string tokenizer_identity(const std::string& name);

}  // namespace shoal
