#include <doctest/doctest.h>

#include "base/error.h"
#include "data/tokenizer.h"

using namespace shoal;

TEST_CASE("byte tokenizer: bytes and back") {
  const auto tokenizer = open_tokenizer("byte");
  CHECK(tokenizer->vocab_size() == 257);
  CHECK(tokenizer->end_of_document() == 256);
  CHECK(tokenizer->encode("aé") == std::vector<int32_t>{97, 0xc3, 0xa9});
  CHECK(tokenizer->decode({97, 0xc3, 0xa9, 256}) == "aé");
  CHECK(tokenizer->decode({97, 0xc3}) == "a\xef\xbf\xbd");
  CHECK(tokenizer_identity("byte") == tokenizer->identity());
}
