// A regular expression over UTF-8, compiled to machine code by PCRE2.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace shoal {

class Pattern {
 public:
  // Throws UserError with PCRE2's message. \s and \S mean Unicode's White_Space, as in the Oniguruma library.
  explicit Pattern(const std::string& expression);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  // What matching needs beside the pattern; one for each thread.
  class State {
   public:
    State();
    ~State();
    State(State&&) noexcept;
    State& operator=(State&&) noexcept;

   private:
    friend class Pattern;
    struct Data;
    std::unique_ptr<Data> data_;
  };

  struct Match {
    size_t begin, end;
  };
  // The next non-empty match at or behind `from`.
  bool find(std::string_view text, size_t from, State& state, Match& match) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace shoal
