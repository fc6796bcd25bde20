// What the documents of a token file have in common.
#pragma once

#include <cstdint>
#include <string>

#include "data/token_file.h"

namespace shoal {

struct DocumentFacts {
  int64_t documents = 0;   // looked at, the first ones
  int64_t duplicates = 0;  // equal an earlier one token for token; empty ones do not count
  int64_t duplicate_tokens = 0;
  int32_t common_end = -1;   // the most frequent last token
  int64_t ends_with_it = 0;  // documents that end with it
  int64_t shortest = 0, longest = 0;

  bool are_rows() const { return documents > 1 && shortest == longest && longest > 1; }
};

// Of the first documents that hold about so many tokens.
DocumentFacts document_facts(const TokenFile& file, int64_t token_limit);

// Several lines of a report.
std::string to_text(const DocumentFacts& facts, int64_t all_documents);

}  // namespace shoal
