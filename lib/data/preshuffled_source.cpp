#include "data/preshuffled_source.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "data/token_rows.h"

namespace shoal {

PreshuffledSource::PreshuffledSource(std::vector<std::shared_ptr<const TokenFile>> files, int64_t seq_length,
                                     std::vector<int64_t> token_limits)
    : files_(std::move(files)), seq_length_(seq_length), token_limits_(std::move(token_limits)), first_{0} {
  SHOAL_CHECK(!files_.empty() && files_.size() == token_limits_.size());
  for (const auto& file : files_) {
    if (file->num_documents() > 0) check_length(*file, 0);
    first_.push_back(first_.back() + file->num_documents());
  }
}

void PreshuffledSource::check_length(const TokenFile& file, int64_t sequence) const {
  const int64_t tokens = file.document_size(sequence);
  if (tokens == seq_length_ + 1) return;
  throw UserError(
      Problem{fmt::format("sequence {} has {} tokens", sequence, tokens), file.prefix(), "",
              fmt::format("data.seq_length + 1 = {} in each, with data.order: preshuffled", seq_length_ + 1),
              tokens > 1 && sequence == 0
                  ? fmt::format("set data.seq_length={}, if these are rows in training order", tokens - 1)
                  : "the file holds documents, not rows: use another data.order"});
}

void PreshuffledSource::read(int64_t index, int32_t* row) const {
  SHOAL_CHECK(index >= 0 && index < size());
  const auto at = size_t(std::upper_bound(first_.begin(), first_.end(), index) - first_.begin() - 1);
  const TokenFile& file = *files_[at];
  const int64_t sequence = index - first_[at];
  file.index().check_sequence(sequence, file.prefix() + ".idx");
  check_length(file, sequence);
  read_limited(file, file.document_begin(sequence), seq_length_ + 1, token_limits_[at], row);
}

std::string PreshuffledSource::describe() const {
  std::string text = fmt::format("{} samples of {} tokens, in the order of the files", size(), seq_length_);
  for (const auto& file : files_) {
    text += fmt::format("\n  {}: {} rows", file->prefix(), file->num_documents());
    if (file->bin().num_files() > 1) text += fmt::format(" in {} shards", file->bin().num_files());
  }
  return text;
}

}  // namespace shoal
