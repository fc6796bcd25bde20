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

}  // namespace shoal
