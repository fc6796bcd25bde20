// Any view, element by element, as double. This is what makes the reference independent of types and strides.
#pragma once

#include <cstddef>

#include "tensor/view.h"

namespace shoal::reference {

class Elements {
 public:
  explicit Elements(const View& view) : view_(view) {}

  template <typename... Index>
  double operator()(Index... index) const {
    return load(offset(index...));
  }
  template <typename... Index>
  void set(double value, Index... index) const {
    store(offset(index...), value);
  }
  template <typename... Index>
  void add(double value, Index... index) const {
    const int64_t at = offset(index...);
    store(at, load(at) + value);
  }

 private:
  template <typename... Index>
  int64_t offset(Index... index) const {
    SHOAL_CHECK(view_.rank() == int(sizeof...(Index)));
    int64_t at = 0;
    size_t dim = 0;
    ((at += int64_t(index) * view_.strides[dim++]), ...);
    return at;
  }

  double load(int64_t at) const {
    switch (view_.dtype) {
      case DType::f32:
        return double(static_cast<const float*>(view_.data)[at]);
      case DType::bf16:
        return double(float(static_cast<const bf16*>(view_.data)[at]));
      case DType::f64:
        return static_cast<const double*>(view_.data)[at];
      case DType::i32:
        return double(static_cast<const int32_t*>(view_.data)[at]);
      default:
        SHOAL_CHECK(false);
    }
  }

  void store(int64_t at, double value) const {
    switch (view_.dtype) {
      case DType::f32:
        static_cast<float*>(view_.data)[at] = float(value);
        return;
      case DType::bf16:
        static_cast<bf16*>(view_.data)[at] = bf16(float(value));
        return;
      case DType::f64:
        static_cast<double*>(view_.data)[at] = value;
        return;
      default:
        SHOAL_CHECK(false);
    }
  }

  View view_;
};

// Calls f(i, j) for every element of a matrix.
template <typename F>
void for_each_element(const View& view, F&& f) {
  SHOAL_CHECK(view.rank() == 2);
  for (int64_t i = 0; i < view.dim(0); ++i) {
    for (int64_t j = 0; j < view.dim(1); ++j) f(i, j);
  }
}

}  // namespace shoal::reference
