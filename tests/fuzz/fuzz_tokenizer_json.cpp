// Any bytes give a tokenizer or a UserError; a tokenizer gives ids of its vocabulary for any text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "data/bpe/bpe_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const shoal::BpeTokenizer tokenizer(shoal::parse_tokenizer_json(text, "input"), "input", "input");
    for (const char* sample :
         {"Hello  world, it's 2024!\n\n", "na\u00efve e\u0301 \u4f60\u597d<|endoftext|> x"}) {
      const auto ids = tokenizer.encode(sample);
      for (int32_t id : ids) {
        if (id < 0 || id >= tokenizer.vocab_size()) std::abort();
      }
      tokenizer.decode(ids);
      if (tokenizer.safe_cut(sample) > std::string_view(sample).size()) std::abort();
    }
  } catch (const shoal::Error&) {  // also a pattern that runs into PCRE2's limits
  }
  return 0;
}
