#include "checkpoint/tensor_hash.h"

#include <fmt/format.h>

#include "base/check.h"
#include "checkpoint/pieces.h"

namespace shoal {
namespace {

template <typename Bits>
TensorHash hash_run(const Bits* data, int64_t count, int64_t first) {
  uint64_t low = 0, high = 0;
  for (int64_t k = 0; k < count; ++k) {
    uint64_t x = uint64_t(data[k]) + uint64_t(first + k + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    const uint64_t p = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    const uint64_t q = (x ^ (x >> 28)) * 0xD6E8FEB86659FD93u;
    low += p ^ (p >> 31);
    high += q ^ (q >> 32);
  }
  return {low, high};
}

TensorHash hash_run(const void* data, int64_t width, int64_t count, int64_t first) {
  switch (width) {
    case 1:
      return hash_run(static_cast<const uint8_t*>(data), count, first);
    case 2:
      return hash_run(static_cast<const uint16_t*>(data), count, first);
    case 4:
      return hash_run(static_cast<const uint32_t*>(data), count, first);
    case 8:
      return hash_run(static_cast<const uint64_t*>(data), count, first);
    default:
      SHOAL_CHECK(false);
  }
}

}  // namespace

std::string to_string(const TensorHash& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

TensorHash hash_part(const Shape& global, const Slab& slab, const Range& part, const View& data) {
  SHOAL_CHECK(data.contiguous() && data.numel() == part.count && global.rank() == slab.shape.rank());
  const int64_t width = size_of(data.dtype);
  TensorHash hash;
  for_each_run(global, slab, part, [&](int64_t index, int64_t at, int64_t count) {
    hash += hash_run(static_cast<const std::byte*>(data.data) + at * width, width, count, index);
  });
  return hash;
}

TensorHash hash_slab(const Shape& global, const Slab& slab, const View& data) {
  return hash_part(global, slab, {0, slab.shape.numel()}, data);
}

}  // namespace shoal
