// A corpus of a few hundred tokens below 32, with some order in them, so that a loss on it falls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/philox.h"
#include "data/token_file_writer.h"

namespace shoal::test {

inline void write_tiny_corpus(const std::string& prefix, uint64_t seed, int documents) {
  TokenFileWriter writer(prefix, {.vocab_size = 32, .tokenizer = "", .end_of_document = 31});
  const Philox draws(seed, "corpus");
  uint64_t n = 0;
  for (int d = 0; d < documents; ++d) {
    std::vector<int32_t> ids;
    int32_t id = int32_t(draws.bits(n++) % 31);
    for (int i = 0; i < 40; ++i) {
      ids.push_back(id);
      id = draws.uniform(n++) < 0.8 ? (id + 3) % 31 : int32_t(draws.bits(n++) % 31);
    }
    ids.push_back(31);
    writer.append(ids.data(), int64_t(ids.size()));
    writer.end_document();
  }
  writer.finish();
}

}  // namespace shoal::test
