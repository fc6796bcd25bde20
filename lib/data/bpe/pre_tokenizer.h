// Cuts text into the pieces whose bytes are merged separately.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/bpe/description.h"
#include "data/bpe/gpt2_splitter.h"
#include "data/bpe/pattern.h"

namespace shoal {

class PreTokenizer {
 public:
  explicit PreTokenizer(const std::vector<SplitStep>& steps);

  using State = Pattern::State;  // one for each thread

  // Calls sink(piece) for each piece in order; a piece is valid during the call.
  template <typename Sink>
  void split(std::string_view text, State& state, Sink&& sink) const {
    if (only_gpt2_) {
      for (size_t at = 0; at < text.size();) {
        const size_t end = splitter_.next(text, at);
        sink(text.substr(at, end - at));
        at = end;
      }
    } else {
      std::vector<std::string> pieces;
      split_by_steps(text, state, pieces);
      for (const std::string& piece : pieces) sink(std::string_view(piece));
    }
  }

  // True if a cut before white space that follows another character never changes the pieces.
  bool cuts_before_white_space() const { return only_gpt2_; }

 private:
  struct Step {
    SplitStep::Kind kind;
    std::string literal;
    int pattern = -1;  // index into patterns_
  };
  void split_by_steps(std::string_view text, State& state, std::vector<std::string>& pieces) const;
  void apply(const Step& step, std::string_view piece, State& state, std::vector<std::string>& pieces) const;

  Gpt2Splitter splitter_;
  std::vector<Step> steps_;
  std::vector<Pattern> patterns_;
  bool only_gpt2_;
};

}  // namespace shoal
