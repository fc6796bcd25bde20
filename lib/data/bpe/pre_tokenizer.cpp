#include "data/bpe/pre_tokenizer.h"

#include "data/bpe/unicode_table.h"
#include "data/utf8.h"

namespace shoal {

namespace {

CharClass class_at(std::string_view text, size_t& at) {
  return UnicodeTable::get().char_class(next_code_point(text, at));
}

void add(std::string_view piece, std::vector<std::string>& pieces) {
  if (!piece.empty()) pieces.emplace_back(piece);
}

void split_digits(std::string_view text, bool each, std::vector<std::string>& pieces) {
  size_t begin = 0;
  bool in_number = false;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    const bool is_number = class_at(text, at) == CharClass::number;
    if (here > begin && (is_number != in_number || (is_number && each))) {
      add(text.substr(begin, here - begin), pieces);
      begin = here;
    }
    in_number = is_number;
  }
  add(text.substr(begin), pieces);
}

}  // namespace

PreTokenizer::PreTokenizer(const std::vector<SplitStep>& steps)
    : only_gpt2_(steps.size() == 1 && steps[0].kind == SplitStep::Kind::gpt2) {
  for (const SplitStep& step : steps) {
    steps_.push_back({step.kind, step.pattern, -1});
    if (step.kind == SplitStep::Kind::regex || step.kind == SplitStep::Kind::regex_only) {
      steps_.back().pattern = int(patterns_.size());
      patterns_.emplace_back(step.pattern);
    }
  }
}

void PreTokenizer::split_by_steps(std::string_view text, State& state,
                                  std::vector<std::string>& pieces) const {
  pieces.emplace_back(text);
  for (const Step& step : steps_) {
    std::vector<std::string> next;
    for (const std::string& piece : pieces) apply(step, piece, state, next);
    pieces = std::move(next);
  }
}

void PreTokenizer::apply(const Step& step, std::string_view piece, State& state,
                         std::vector<std::string>& pieces) const {
  size_t done = 0;
  switch (step.kind) {
    case SplitStep::Kind::gpt2:
      while (done < piece.size()) {
        const size_t end = splitter_.next(piece, done);
        add(piece.substr(done, end - done), pieces);
        done = end;
      }
      return;
    case SplitStep::Kind::regex:
    case SplitStep::Kind::regex_only: {
      const bool keep_rest = step.kind == SplitStep::Kind::regex;
      for (Pattern::Match match{}; patterns_[size_t(step.pattern)].find(piece, done, state, match);) {
        if (keep_rest) add(piece.substr(done, match.begin - done), pieces);
        add(piece.substr(match.begin, match.end - match.begin), pieces);
        done = match.end;
      }
      if (keep_rest) add(piece.substr(done), pieces);
      return;
    }
    case SplitStep::Kind::literal:
      for (size_t at; (at = piece.find(step.literal, done)) != std::string_view::npos;) {
        add(piece.substr(done, at - done), pieces);
        add(step.literal, pieces);
        done = at + step.literal.size();
      }
      add(piece.substr(done), pieces);
      return;
    case SplitStep::Kind::digits:
    case SplitStep::Kind::digit_runs:
      split_digits(piece, step.kind == SplitStep::Kind::digits, pieces);
      return;
    case SplitStep::Kind::prefix_space: {
      size_t at = 0;
      const bool has_space = piece.empty() || class_at(piece, at) == CharClass::space;
      pieces.push_back(has_space ? std::string(piece) : " " + std::string(piece));
      return;
    }
  }
}

}  // namespace shoal
