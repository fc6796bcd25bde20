#include "checkpoint/pieces.h"

#include <cstddef>

#include "base/check.h"

namespace shoal {

StateTensor share_of(const StateTensor& tensor) {
  const Range range = tensor.range();
  SHOAL_CHECK(tensor.data.contiguous() && tensor.data.numel() == range.count);
  SHOAL_CHECK(range.begin >= 0 && range.end() <= tensor.slab.shape.numel());
  if (tensor.replica.count == 1) return tensor;
  const Range share = part_of(range.count, tensor.replica.count, tensor.replica.index);
  StateTensor result = tensor;
  result.part = Range{range.begin + share.begin, share.count};
  result.replica = {};
  auto* data = static_cast<std::byte*>(tensor.data.data);
  if (share.count > 0) data += share.begin * size_of(tensor.data.dtype);
  result.data = View(data, tensor.data.dtype, Shape{share.count});
  return result;
}

}  // namespace shoal
