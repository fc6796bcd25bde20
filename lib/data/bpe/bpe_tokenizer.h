// A byte-level BPE tokenizer.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/bpe/added_tokens.h"
#include "data/bpe/description.h"
#include "data/bpe/merger.h"
#include "data/bpe/normalizer.h"
#include "data/bpe/pre_tokenizer.h"
#include "data/tokenizer.h"

namespace shoal {

class BpeTokenizer : public Tokenizer {
 public:
  BpeTokenizer(const BpeDescription& description, std::string name, std::string identity,
               const TokenizerOptions& options = {});
  ~BpeTokenizer() override;

  int64_t vocab_size() const override { return vocab_size_; }
  std::vector<int32_t> encode(std::string_view text) const override;
  void encode_append(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decode(const std::vector<int32_t>& ids) const override;
  int32_t end_of_document() const override { return end_of_document_; }
  std::string describe() const override;
  std::string identity() const override { return identity_; }
  size_t safe_cut(std::string_view text) const override;

 private:
  // What a thread needs while it encodes. They are kept for the next call, because the cache in them is worth
  // it.
  struct Scratch;
  std::unique_ptr<Scratch> take_scratch() const;
  void give_back(std::unique_ptr<Scratch> scratch) const;
  void encode_plain(std::string_view text, Scratch& scratch, std::vector<int32_t>& ids) const;
  void encode_piece(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;

  std::string name_, identity_;
  Normalizer normalizer_;
  AddedTokens raw_tokens_, normalized_tokens_;
  PreTokenizer pre_tokenizer_;
  Merger merger_;
  bool cuts_before_white_space_;
  int64_t vocab_size_ = 0;
  int32_t end_of_document_ = -1;
  std::string bytes_;             // of all tokens
  std::vector<uint32_t> begins_;  // of each id's bytes, and the end

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace shoal
