// PREFIX.meta.json: what made a token file, and the hashes that let every bit of it be checked. It is this
// program's own addition to the .bin/.idx pair; a pair without it is read, but its content cannot be
// verified.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

struct TokenFileMeta {
  static constexpr int64_t kChunkBytes = 256 * 1024;

  int64_t documents = 0, tokens = 0;
  int64_t vocab_size = 0;        // ids are below it
  std::string tokenizer;         // Tokenizer::identity(), or empty
  int64_t end_of_document = -1;  // the id that ends each document, or -1: none was written
  uint64_t index_hash = 0;       // XXH3-64 of the .idx
  int64_t chunk_bytes = kChunkBytes;
  std::vector<uint64_t> chunk_hashes;  // XXH3-64 of each chunk_bytes of the .bin, the last one shorter
};

uint64_t content_hash(const void* data, size_t bytes);

std::string to_json(const TokenFileMeta& meta);
// Throws UserError naming the file and the key.
TokenFileMeta parse_token_file_meta(const std::string& text, const std::string& name);

}  // namespace shoal
