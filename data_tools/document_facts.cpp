#include "data_tools/document_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/text.h"
#include "data/token_file_meta.h"

namespace shoal {

DocumentFacts document_facts(const TokenFile& file, int64_t token_limit) {
  DocumentFacts facts;
  std::unordered_set<uint64_t> seen;
  std::unordered_map<int32_t, int64_t> last_tokens;
  std::vector<std::byte> scratch;
  const int64_t item = size_of(file.type());
  for (int64_t tokens = 0; facts.documents < file.num_documents() && tokens < token_limit;
       ++facts.documents) {
    const int64_t document = facts.documents;
    const int64_t size = file.document_size(document), begin = file.document_begin(document);
    facts.shortest = document == 0 ? size : std::min(facts.shortest, size);
    facts.longest = std::max(facts.longest, size);
    tokens += size;
    if (size == 0) continue;
    file.verify(begin, size);
    const auto bytes = file.bin().at(begin * item, size * item, scratch);
    if (!seen.insert(content_hash(bytes.data(), bytes.size())).second) {
      ++facts.duplicates;
      facts.duplicate_tokens += size;
    }
    int32_t last = 0;
    file.read(begin + size - 1, 1, &last);
    ++last_tokens[last];
  }
  for (const auto& [token, count] : last_tokens) {
    if (count < facts.ends_with_it || (count == facts.ends_with_it && token > facts.common_end)) continue;
    facts.common_end = token;
    facts.ends_with_it = count;
  }
  return facts;
}

std::string to_text(const DocumentFacts& facts, int64_t all_documents) {
  if (facts.documents == 0) return "";
  const std::string all = with_commas(facts.documents);
  const std::string part =
      facts.documents < all_documents ? fmt::format(", in the first {} documents", all) : "";
  std::string text;
  if (facts.documents > 1 && facts.ends_with_it * 2 > facts.documents) {
    text += fmt::format("ends         {} of {} documents end with the id {}{}\n",
                        with_commas(facts.ends_with_it), all, facts.common_end, part);
  } else {
    text += fmt::format("ends         no id ends most documents{}: they follow each other without a mark\n",
                        part);
  }
  if (facts.are_rows()) {
    text += fmt::format(
        "rows         every sequence has {} tokens{}: for data.order: preshuffled with data.seq_length {}, "
        "inputs "
        "are\n             the first {} and targets the last {}\n",
        facts.longest, part, facts.longest - 1, facts.longest - 1, facts.longest - 1);
  } else {
    text +=
        "rows         seq_length + 1 tokens, cut from the documents one after the other; neighbours share "
        "one "
        "token\n";
  }
  text += fmt::format("duplicates   {} documents equal an earlier one ({} tokens){}\n",
                      facts.duplicates == 0 ? "no" : with_commas(facts.duplicates),
                      with_commas(facts.duplicate_tokens), part);
  return text;
}

}  // namespace shoal
