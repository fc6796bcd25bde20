#include "data/token_rows.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"

namespace shoal {

TokenRows::TokenRows(std::shared_ptr<const TokenFile> file, int64_t first_document, int64_t end_document,
                     int64_t seq_length, int64_t token_limit)
    : file_(std::move(file)),
      first_document_(first_document),
      end_document_(end_document),
      begin_(file_->document_begin(first_document)),
      end_(file_->document_begin(end_document)),
      seq_length_(seq_length),
      token_limit_(token_limit),
      rows_(end_ > begin_ ? (end_ - begin_ - 1) / seq_length : 0) {}

void TokenRows::read(int64_t row, int64_t offset, int32_t* out) const {
  SHOAL_CHECK(row >= 0 && row < rows_);
  const int64_t length = num_tokens(), count = seq_length_ + 1;
  const int64_t from = (offset + row * seq_length_) % length;
  const int64_t before_end = std::min(count, length - from);
  read_tokens(begin_ + from, before_end, out);
  if (before_end < count) read_tokens(begin_, count - before_end, out + before_end);
}

void TokenRows::read_tokens(int64_t first, int64_t count, int32_t* out) const {
  read_limited(*file_, first, count, token_limit_, out);
}

void read_limited(const TokenFile& file, int64_t first, int64_t count, int64_t token_limit, int32_t* out) {
  file.read(first, count, out);
  int32_t largest = -1;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, out[i]);
  if (largest < token_limit) return;
  const auto at = std::find(out, out + count, largest) - out;
  throw UserError(
      Problem{fmt::format("token {} has the id {}", first + at, largest), file.prefix() + ".bin", "",
              fmt::format("ids below the vocabulary's {}", token_limit),
              "the data were made with another tokenizer than data.tokenizer or model.vocab_size say"});
}

}  // namespace shoal
