// Text files to a token file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "data_tools/block_reader.h"

namespace shoal {

struct TokenizeSettings {
  std::vector<std::string> inputs;
  std::string output;     // the prefix
  std::string tokenizer;  // as data.tokenizer
  Layout layout;
  bool append_end_of_document = true;
  bool special_tokens = true;  // texts like <|endoftext|> become their special token
  bool skip_invalid = false;
  double valid_fraction = 0;  // of the documents, chosen pseudo-randomly, to <output>_valid
  uint64_t seed = 1234;       // of that choice
  int threads = 1;
};

struct TokenizeCounts {
  int64_t documents = 0, empty = 0, invalid = 0, tokens = 0;
  int64_t text_bytes = 0;
  int64_t valid_documents = 0, valid_tokens = 0;
  double seconds = 0;
};

// Streams: memory does not grow with the input, but for documents that no tokenizer knows how to cut.
// Documents keep the order of the input. Empty and (with skip_invalid) invalid documents are left out and
// counted. Throws UserError naming file and line.
TokenizeCounts tokenize_files(const TokenizeSettings& settings, Log& log);

}  // namespace shoal
