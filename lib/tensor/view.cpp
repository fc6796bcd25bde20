#include "tensor/view.h"

#include <fmt/format.h>

namespace shoal {

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) text += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return text + "]";
}

View::View(void* pointer, DType type, const Shape& s) : data(pointer), dtype(type), shape(s) {
  int64_t stride = 1;
  for (int i = s.rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = stride;
    stride *= s[i];
  }
}

bool View::contiguous() const {
  int64_t expected = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (dim(i) != 1 && stride(i) != expected) return false;
    expected *= dim(i);
  }
  return true;
}

View View::reshape(const Shape& s) const {
  SHOAL_CHECK(contiguous() && s.numel() == numel());
  return View(data, dtype, s);
}

View View::slice(int d, int64_t begin, int64_t count) const {
  SHOAL_CHECK(begin >= 0 && count >= 0 && begin + count <= dim(d));
  View view = *this;
  view.data = static_cast<std::byte*>(data) + begin * stride(d) * size_of(dtype);
  view.shape[d] = count;
  return view;
}

}  // namespace shoal
