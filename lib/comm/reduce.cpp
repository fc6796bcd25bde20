#include "comm/reduce.h"

#include <algorithm>

namespace shoal {
namespace {

template <typename T, typename Sum>
void reduce_typed(const std::vector<const void*>& parts, void* out, int64_t count, Reduce op) {
  // Blocks keep the running result in cache while the ranks' parts stream by.
  constexpr int64_t block = 2048;
  Sum sum[block];
  for (int64_t first = 0; first < count; first += block) {
    const int64_t n = std::min(block, count - first);
    const T* head = static_cast<const T*>(parts[0]) + first;
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<Sum>(head[i]);
    for (size_t r = 1; r < parts.size(); ++r) {
      const T* part = static_cast<const T*>(parts[r]) + first;
      switch (op) {
        case Reduce::sum:
          for (int64_t i = 0; i < n; ++i) sum[i] += static_cast<Sum>(part[i]);
          break;
        case Reduce::max:
          for (int64_t i = 0; i < n; ++i) sum[i] = std::max(sum[i], static_cast<Sum>(part[i]));
          break;
        case Reduce::min:
          for (int64_t i = 0; i < n; ++i) sum[i] = std::min(sum[i], static_cast<Sum>(part[i]));
          break;
      }
    }
    T* to = static_cast<T*>(out) + first;
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(sum[i]);
  }
}

}  // namespace

void reduce_parts(const std::vector<const void*>& parts, void* out, int64_t count, DType dtype, Reduce op) {
  switch (dtype) {
    case DType::f32:
      return reduce_typed<float, float>(parts, out, count, op);
    case DType::bf16:
      return reduce_typed<bf16, float>(parts, out, count, op);
    case DType::f64:
      return reduce_typed<double, double>(parts, out, count, op);
    case DType::i32:
      return reduce_typed<int32_t, int32_t>(parts, out, count, op);
    case DType::i64:
      return reduce_typed<int64_t, int64_t>(parts, out, count, op);
    default:
      SHOAL_CHECK(false);
  }
}

}  // namespace shoal
