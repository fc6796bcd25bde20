// A tokenised corpus: the pair PREFIX.bin (ids, one document after the other; or its shards, see
// spec/token_files.h) and PREFIX.idx (token_index.h), and PREFIX.meta.json (token_file_meta.h) where this
// program wrote it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "data/bin_bytes.h"
#include "data/mapped_file.h"
#include "data/token_file_meta.h"
#include "data/token_index.h"

namespace shoal {

class TokenFile {
 public:
  // Opens and checks everything but the content of the .bin; with IndexCheck::ends, what takes constant time.
  // Throws UserError naming the file and the byte.
  explicit TokenFile(const std::string& prefix, IndexCheck check = IndexCheck::whole);

  const std::string& prefix() const { return prefix_; }
  TokenType type() const { return index_->type(); }
  int64_t num_documents() const { return index_->num_sequences(); }
  int64_t num_tokens() const { return index_->num_tokens(); }
  int64_t document_size(int64_t document) const { return index_->size(document); }
  int64_t document_begin(int64_t document) const {
    return index_->begin(document);
  }  // also for num_documents()
  const TokenIndex& index() const { return *index_; }
  const BinBytes& bin() const { return bin_; }
  const TokenFileMeta* meta() const { return meta_ ? &*meta_ : nullptr; }

  // Copies tokens [first, first + count). With hashes at hand, each chunk of the .bin is verified when it is
  // first touched. Thread-safe. Throws UserError at an id that is negative or past 2^31, or at content that
  // changed.
  void read(int64_t first, int64_t count, int32_t* out) const;

  // Verifies the chunks that cover tokens [first, first + count), or nothing without hashes.
  void verify(int64_t first, int64_t count) const;

 private:
  void check_meta(IndexCheck check) const;

  std::string prefix_;
  MappedFile index_file_;
  BinBytes bin_;
  std::optional<TokenIndex> index_;
  std::optional<TokenFileMeta> meta_;
  std::unique_ptr<std::atomic<bool>[]> verified_;  // by chunk
};

}  // namespace shoal
