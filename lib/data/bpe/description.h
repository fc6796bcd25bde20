// A byte-level BPE tokenizer as data: what a Hugging Face tokenizer.json says, checked, without its spelling.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool special = false;
  bool normalized = false;              // looked for in the normalised text, else in the raw text
  bool single_word = false;             // only where no word character touches it
  bool lstrip = false, rstrip = false;  // takes the white space before or behind it along
};

enum class NormalForm { nfc, nfd, nfkc, nfkd };

// One step of cutting text into the pieces that are merged separately.
struct SplitStep {
  enum class Kind {
    gpt2,          // the pattern of gpt2_splitter.h
    regex,         // matches of `pattern` and what lies between them
    regex_only,    // the matches alone
    literal,       // occurrences of `pattern` and what lies between them
    digits,        // each number on its own
    digit_runs,    // each run of numbers on its own
    prefix_space,  // puts a space before a piece that does not begin with white space
  };
  Kind kind;
  std::string pattern;
};

struct BpeDescription {
  struct Token {
    std::string bytes;
    int32_t id;
  };
  struct Merge {
    int32_t left, right, result;
  };
  std::vector<NormalForm> normal_forms;
  std::vector<SplitStep> steps;
  std::vector<AddedToken> added;
  std::vector<Token> vocab;    // with every single byte of UTF-8
  std::vector<Merge> merges;   // by rank
  bool ignore_merges = false;  // a piece that is a token is that token, whatever the merges say
};

// Reads a tokenizer.json. What would give other ids than the library that wrote it is refused. Throws
// UserError naming the file (`name`) and the place as a JSON pointer.
BpeDescription parse_tokenizer_json(std::string_view text, const std::string& name);

// A tokenizer.json for a description that has no steps but gpt2.
std::string to_tokenizer_json(const BpeDescription& description);

}  // namespace shoal
