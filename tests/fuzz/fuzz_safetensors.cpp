// Any bytes give a header or a UserError, and every entry of a header lies within the bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "base/error.h"
#include "checkpoint/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto header = shoal::parse_safetensors({reinterpret_cast<const std::byte*>(data), size}, "input");
    for (const auto& entry : header.entries) {
      if (entry.offset < 8 || entry.bytes < 0 || entry.offset + entry.bytes > int64_t(size)) std::abort();
    }
  } catch (const shoal::UserError&) {
  }
  return 0;
}
