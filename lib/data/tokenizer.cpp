#include "data/tokenizer.h"

#include <filesystem>

#include "base/error.h"
#include "data/bpe/bpe_tokenizer.h"
#include "data/byte_tokenizer.h"
#include "data/mapped_file.h"
#include "data/token_file_meta.h"

namespace shoal {

namespace {

// The file of a name that is not "byte": itself, or the tokenizer.json in the folder it names.
MappedFile open_file(const std::string& name) {
  const std::filesystem::path path(name);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw UserError(Problem{"does not exist", name, "", "\"byte\", or the path of a tokenizer.json",
                            "make one with `shoal data train-tokenizer`"});
  }
  return MappedFile(std::filesystem::is_directory(path, ignored) ? (path / "tokenizer.json").string() : name);
}

std::string identity_of(const MappedFile& file) {
  return fmt::format("bpe:{:016x}", content_hash(file.bytes().data(), file.bytes().size()));
}

}  // namespace

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name, const TokenizerOptions& options) {
  if (name == "byte") return std::make_unique<ByteTokenizer>();
  const MappedFile file = open_file(name);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  return std::make_unique<BpeTokenizer>(parse_tokenizer_json(text, file.path()), name, identity_of(file),
                                        options);
}

std::string tokenizer_identity(const std::string& name) {
  return name == "byte" ? "byte" : identity_of(open_file(name));
}

}  // namespace shoal
