#include "data/bpe/added_tokens.h"

#include <algorithm>

#include "data/bpe/unicode_table.h"
#include "data/utf8.h"

namespace shoal {

namespace {

size_t previous_character(std::string_view text, size_t at) {
  do {
    --at;
  } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

bool is_word_at(std::string_view text, size_t at) {
  return UnicodeTable::get().is_word(next_code_point(text, at));
}

bool is_space_at(std::string_view text, size_t at) {
  return UnicodeTable::get().char_class(next_code_point(text, at)) == CharClass::space;
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
  return (begin == 0 || !is_word_at(text, previous_character(text, begin))) &&
         (end == text.size() || !is_word_at(text, end));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::stable_sort(tokens_.begin(), tokens_.end(), [](const AddedToken& a, const AddedToken& b) {
    return a.content.size() > b.content.size();
  });
  if (tokens_.empty()) return;
  common_prefix_ = tokens_[0].content;
  for (const AddedToken& token : tokens_) {
    const auto [end, ignored] = std::mismatch(common_prefix_.begin(), common_prefix_.end(),
                                              token.content.begin(), token.content.end());
    common_prefix_.erase(end, common_prefix_.end());
    first_bytes_.set(static_cast<unsigned char>(token.content[0]));
  }
}

size_t AddedTokens::find_candidate(std::string_view text, size_t from) const {
  if (!common_prefix_.empty()) return text.find(common_prefix_, from);
  while (from < text.size() && !first_bytes_[static_cast<unsigned char>(text[from])]) ++from;
  return from < text.size() ? from : std::string_view::npos;
}

const AddedToken* AddedTokens::longest_at(std::string_view text, size_t at) const {
  for (const AddedToken& token : tokens_) {
    if (text.substr(at).starts_with(token.content)) return &token;
  }
  return nullptr;
}

bool AddedTokens::find(std::string_view text, size_t done, Match& match) const {
  if (tokens_.empty()) return false;
  // A token may have taken white space that another match begins in: the search goes on behind the content.
  for (size_t from = match.resume;;) {
    const size_t at = find_candidate(text, from);
    if (at == std::string_view::npos) return false;
    const AddedToken* token = longest_at(text, at);
    if (token == nullptr) {
      from = at + 1;
      continue;
    }
    const size_t end = at + token->content.size();
    from = end;
    if (token->single_word && !stands_alone(text, at, end)) continue;
    match = {at, end, token->id, end};
    if (token->lstrip) {
      while (match.begin > done && is_space_at(text, previous_character(text, match.begin))) {
        match.begin = previous_character(text, match.begin);
      }
    }
    if (token->rstrip) {
      while (match.end < text.size() && is_space_at(text, match.end)) next_code_point(text, match.end);
    }
    match.begin = std::max(match.begin, done);
    match.end = std::max(match.end, done);
    return true;
  }
}

bool AddedTokens::spans_white_space() const {
  return std::any_of(tokens_.begin(), tokens_.end(), [](const AddedToken& token) {
    bool text_before = false;
    for (size_t at = 0; at < token.content.size();) {
      const bool is_space = is_space_at(token.content, at);
      if (is_space && text_before) return true;
      text_before |= !is_space;
      next_code_point(token.content, at);
    }
    return token.lstrip || token.rstrip || token.single_word;
  });
}

}  // namespace shoal
