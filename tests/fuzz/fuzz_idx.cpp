// Any bytes give an index or a UserError, and what an index says lies within the .bin. The first four bytes
// are the size of the .bin.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/error.h"
#include "data/token_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint32_t bin_bytes = 0;
  if (size < sizeof bin_bytes) return 0;
  std::memcpy(&bin_bytes, data, sizeof bin_bytes);
  const std::span bytes(reinterpret_cast<const std::byte*>(data) + sizeof bin_bytes, size - sizeof bin_bytes);
  try {
    const shoal::TokenIndex index(bytes, "input", bin_bytes);
    int64_t end = 0;
    for (int64_t i = 0; i < index.num_sequences(); ++i) {
      if (index.size(i) < 0 || index.begin(i) != end) std::abort();
      end += index.size(i);
    }
    if (end != index.num_tokens() || end * shoal::size_of(index.type()) != bin_bytes) std::abort();
  } catch (const shoal::UserError&) {
  }
  return 0;
}
