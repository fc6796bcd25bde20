// Tokens that are cut out of the text before byte pairs are merged.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/bpe/description.h"

namespace shoal {

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }

  // Calls on_text(part) and on_token(id) for the parts of the text in order. Matches are leftmost, then
  // longest.
  template <typename OnText, typename OnToken>
  void split(std::string_view text, OnText&& on_text, OnToken&& on_token) const {
    size_t done = 0;
    for (Match match; find(text, done, match);) {
      if (match.begin > done) on_text(text.substr(done, match.begin - done));
      on_token(match.id);
      done = match.end;
    }
    if (done < text.size()) on_text(text.substr(done));
  }

  // True if a match can hold, or look at, a white-space character behind another character: then text cannot
  // be cut there.
  bool spans_white_space() const;

 private:
  struct Match {
    size_t begin = 0, end = 0;
    int32_t id = 0;
    size_t resume = 0;
  };
  bool find(std::string_view text, size_t done, Match& match) const;
  size_t find_candidate(std::string_view text, size_t from) const;
  const AddedToken* longest_at(std::string_view text, size_t at) const;

  std::vector<AddedToken> tokens_;  // longest first
  std::string common_prefix_;       // of all contents
  std::bitset<256> first_bytes_;
};

}  // namespace shoal
