// Writes a token file (token_file.h). Nothing appears under the final names before finish().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/token_file_meta.h"
#include "data/token_index.h"

namespace shoal {

class OutputFile;

class TokenFileWriter {
 public:
  // What the sidecar records beside the counts.
  struct Source {
    int64_t vocab_size = 0;  // also chooses the type of the tokens
    std::string tokenizer;   // Tokenizer::identity()
    int64_t end_of_document = -1;
  };

  TokenFileWriter(const std::string& prefix, const Source& source);
  ~TokenFileWriter();  // without finish(): removes what was written
  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;

  // Appends to the current document; ids are in [0, vocab_size). A document may come in several pieces.
  void append(const int32_t* ids, int64_t count);
  void end_document();

  // Ends the file: writes the index and the sidecar, syncs all three and renames them, the index last, so
  // that a pair that is there is whole. Memory does not grow with the number of documents.
  void finish();

  int64_t num_documents() const { return num_documents_; }
  int64_t num_tokens() const { return num_tokens_; }

 private:
  void flush_bin();
  void write_index();

  std::string prefix_;
  Source source_;
  TokenType type_;
  std::unique_ptr<OutputFile> bin_, index_;
  std::vector<std::byte> chunk_;  // filled up to one chunk of the .bin, then hashed and written
  std::vector<uint64_t> hashes_;
  int64_t num_documents_ = 0, num_tokens_ = 0, document_tokens_ = 0;
};

}  // namespace shoal
