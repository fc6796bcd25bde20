#include "checkpoint/tensor_hash.h"

#include <fmt/format.h>

#include "base/check.h"

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

TensorHash hash_slab(const Shape& global, const Slab& slab, const View& data) {
  SHOAL_CHECK(data.contiguous() && data.shape == slab.shape && global.rank() == slab.shape.rank());
  const int64_t width = size_of(data.dtype);
  // Elements that follow one another in the slab and in the global tensor: the trailing dims that are whole,
  // and one more.
  int64_t run = 1;
  int outer = global.rank();
  while (outer > 0) {
    run *= slab.shape[outer - 1];
    --outer;
    if (slab.shape[outer] != global[outer]) break;
  }
  TensorHash hash;
  for (int64_t done = 0; done < data.numel(); done += run) {
    int64_t left = done, index = 0, stride = 1;
    for (int d = global.rank() - 1; d >= 0; --d) {
      index += stride * (slab.offset[d] + left % slab.shape[d]);
      left /= slab.shape[d];
      stride *= global[d];
    }
    hash += hash_run(static_cast<const std::byte*>(data.data) + done * width, width, run, index);
  }
  return hash;
}

}  // namespace shoal
