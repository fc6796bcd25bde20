// Rows of seq_length + 1 tokens from a range of a token file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/token_file.h"

namespace shoal {

// A contiguous range of documents, read as one stream of tokens. Neighbouring rows share one token: the
// target of a row's last position is the first token of the next row, so that each token but the first is a
// target once.
class TokenRows {
 public:
  // token_limit: ids at or past it are an error (an embedding has no row for them).
  TokenRows(std::shared_ptr<const TokenFile> file, int64_t first_document, int64_t end_document,
            int64_t seq_length, int64_t token_limit);

  int64_t size() const { return rows_; }  // (tokens - 1) / seq_length
  int64_t num_tokens() const { return end_ - begin_; }
  int64_t seq_length() const { return seq_length_; }
  const TokenFile& file() const { return *file_; }
  int64_t first_document() const { return first_document_; }
  int64_t end_document() const { return end_document_; }

  // Row number `row` of the stream that begins at token `offset` and goes on at its beginning when it ends.
  void read(int64_t row, int64_t offset, int32_t* out) const;

  // Tokens [first, first + count) of the file, checked against the limit.
  void read_tokens(int64_t first, int64_t count, int32_t* out) const;

 private:
  std::shared_ptr<const TokenFile> file_;
  int64_t first_document_, end_document_;
  int64_t begin_, end_, seq_length_, token_limit_, rows_;
};

// Tokens [first, first + count) of a file. Throws UserError at an id at or past the limit.
void read_limited(const TokenFile& file, int64_t first, int64_t count, int64_t token_limit, int32_t* out);

}  // namespace shoal
