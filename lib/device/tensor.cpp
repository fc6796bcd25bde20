#include "device/device.h"

namespace shoal {

Tensor::Tensor(Device& device, DType dtype, const Shape& shape, Lifetime lifetime)
    : storage_(device.allocate(shape.numel() * size_of(dtype), lifetime)),
      view_(storage_.get(), dtype, shape) {}

Tensor Tensor::reshape(const Shape& shape) const {
  Tensor tensor = *this;
  tensor.view_ = view_.reshape(shape);
  return tensor;
}

Tensor Tensor::part(int64_t begin, const Shape& shape) const {
  SHOAL_CHECK(view_.contiguous() && begin >= 0 && begin + shape.numel() <= numel());
  Tensor tensor = *this;
  tensor.view_ = View(static_cast<std::byte*>(view_.data) + begin * size_of(dtype()), dtype(), shape);
  return tensor;
}

}  // namespace shoal
