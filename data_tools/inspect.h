// What is in a token file.
#pragma once

#include <cstdint>
#include <string>

namespace shoal {

struct InspectSettings {
  std::string prefix;
  std::string tokenizer;  // to show text; empty: ids only
  bool verify = false;    // read everything and check every hash
  int64_t show_tokens = 64;
};

// A report of several lines: counts, type, lengths of documents, ids, the first tokens. Throws UserError if a
// check fails.
std::string inspect_token_file(const InspectSettings& settings);

}  // namespace shoal
