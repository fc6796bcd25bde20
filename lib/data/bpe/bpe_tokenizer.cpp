#include "data/bpe/bpe_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "data/bpe/piece_cache.h"
#include "data/utf8.h"

namespace shoal {

namespace {

std::vector<AddedToken> added_tokens(const BpeDescription& description, const TokenizerOptions& options,
                                     bool normalized) {
  std::vector<AddedToken> tokens;
  std::string storage;
  const Normalizer normalizer(description.normal_forms);
  for (AddedToken token : description.added) {
    if (token.normalized != normalized || (token.special && !options.special_tokens)) continue;
    if (normalized) token.content = std::string(normalizer(token.content, storage));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace

struct BpeTokenizer::Scratch {
  PieceCache cache;
  PreTokenizer::State pre_tokenizer;
  std::string normalized;
};

BpeTokenizer::BpeTokenizer(const BpeDescription& description, std::string name, std::string identity,
                           const TokenizerOptions& options)
    : name_(std::move(name)),
      identity_(std::move(identity)),
      normalizer_(description.normal_forms),
      raw_tokens_(added_tokens(description, options, false)),
      normalized_tokens_(added_tokens(description, options, true)),
      pre_tokenizer_(description.steps),
      merger_(description),
      cuts_before_white_space_(pre_tokenizer_.cuts_before_white_space() && !raw_tokens_.spans_white_space() &&
                               !normalized_tokens_.spans_white_space()) {
  for (const auto& token : description.vocab) vocab_size_ = std::max<int64_t>(vocab_size_, token.id + 1);
  for (const auto& token : description.added) vocab_size_ = std::max<int64_t>(vocab_size_, token.id + 1);
  std::vector<std::string_view> texts(static_cast<size_t>(vocab_size_));
  for (const auto& token : description.vocab) texts[size_t(token.id)] = token.bytes;
  for (const auto& token : description.added) texts[size_t(token.id)] = token.content;
  for (const std::string_view text : texts) {
    begins_.push_back(uint32_t(bytes_.size()));
    bytes_ += text;
  }
  begins_.push_back(uint32_t(bytes_.size()));
  for (const char* end : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"}) {
    for (const auto& token : description.added) {
      if (end_of_document_ < 0 && token.content == end) end_of_document_ = token.id;
    }
  }
}

BpeTokenizer::~BpeTokenizer() = default;

std::string BpeTokenizer::describe() const {
  return fmt::format("{}: byte-level BPE, {} ids", name_, vocab_size_);
}

std::unique_ptr<BpeTokenizer::Scratch> BpeTokenizer::take_scratch() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto scratch = std::move(idle_.back());
      idle_.pop_back();
      return scratch;
    }
  }
  return std::make_unique<Scratch>();
}

void BpeTokenizer::give_back(std::unique_ptr<Scratch> scratch) const {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(scratch));
}

std::vector<int32_t> BpeTokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  encode_append(text, ids);
  return ids;
}

void BpeTokenizer::encode_append(std::string_view text, std::vector<int32_t>& ids) const {
  auto scratch = take_scratch();
  const auto on_token = [&](int32_t id) { ids.push_back(id); };
  raw_tokens_.split(
      text,
      [&](std::string_view raw) {
        normalized_tokens_.split(
            normalizer_(raw, scratch->normalized),
            [&](std::string_view plain) { encode_plain(plain, *scratch, ids); }, on_token);
      },
      on_token);
  give_back(std::move(scratch));
}

void BpeTokenizer::encode_plain(std::string_view text, Scratch& scratch, std::vector<int32_t>& ids) const {
  pre_tokenizer_.split(text, scratch.pre_tokenizer,
                       [&](std::string_view piece) { encode_piece(piece, scratch, ids); });
}

void BpeTokenizer::encode_piece(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  if (piece.size() > PieceCache::kLongestPiece) {
    merger_.append(piece, ids);
    return;
  }
  const auto key = PieceCache::key_of(piece);
  auto& entry = scratch.cache.entry_of(key);
  if (entry.key != key) {
    const size_t before = ids.size();
    merger_.append(piece, ids);
    const size_t count = ids.size() - before;
    if (count > PieceCache::kMostIds) return;
    entry.key = key;
    entry.count = uint32_t(count);
    std::copy(ids.begin() + ptrdiff_t(before), ids.end(), entry.ids.begin());
    return;
  }
  ids.insert(ids.end(), entry.ids.begin(), entry.ids.begin() + entry.count);
}

std::string BpeTokenizer::decode(const std::vector<int32_t>& ids) const {
  std::string text;
  for (int32_t id : ids) {
    if (id < 0 || id >= vocab_size_) continue;  // ids of the padded vocabulary have no text
    text.append(bytes_, begins_[size_t(id)], begins_[size_t(id) + 1] - begins_[size_t(id)]);
  }
  return replace_invalid_utf8(text);
}

size_t BpeTokenizer::safe_cut(std::string_view text) const {
  if (!cuts_before_white_space_) return 0;
  for (size_t at = text.size(); at > 1; --at) {
    const auto before = static_cast<unsigned char>(text[at - 2]);
    if (is_space(text[at - 1]) && before < 0x80 && !is_space(char(before))) return at - 1;
  }
  return 0;
}

}  // namespace shoal
