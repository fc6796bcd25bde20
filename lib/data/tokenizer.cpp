#include "data/tokenizer.h"

#include "base/error.h"
#include "data/byte_tokenizer.h"

namespace shoal {

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name) {
  if (name == "byte") return std::make_unique<ByteTokenizer>();
  throw UserError(Problem{"is not known", "data.tokenizer", name, "byte", ""});
}

std::string tokenizer_identity(const std::string& name) {
  return open_tokenizer(name)->identity();
}

}  // namespace shoal
