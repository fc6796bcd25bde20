// A view of a tensor in memory: element type, shape and strides; it owns nothing.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/check.h"
#include "tensor/dtype.h"

namespace shoal {

// Up to five dims, the slowest first.
class Shape {
 public:
  static constexpr int max_rank = 5;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) {
    SHOAL_CHECK(dims.size() <= max_rank);
    for (int64_t d : dims) dims_[static_cast<size_t>(rank_++)] = d;
  }

  int rank() const { return rank_; }
  int64_t operator[](int i) const { return dims_[index(i)]; }
  int64_t& operator[](int i) { return dims_[index(i)]; }
  void append(int64_t dim) {
    SHOAL_CHECK(rank_ < max_rank);
    dims_[static_cast<size_t>(rank_++)] = dim;
  }
  int64_t numel() const {
    int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= dims_[static_cast<size_t>(i)];
    return n;
  }
  bool operator==(const Shape& other) const { return rank_ == other.rank_ && dims_ == other.dims_; }

 private:
  // Negative indices count from the end.
  size_t index(int i) const {
    const int j = i < 0 ? i + rank_ : i;
    SHOAL_CHECK(j >= 0 && j < rank_);
    return static_cast<size_t>(j);
  }
  std::array<int64_t, max_rank> dims_{};
  int rank_ = 0;
};

std::string to_string(const Shape& shape);  // "[2, 512, 64]"

struct View {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  std::array<int64_t, Shape::max_rank> strides{};  // in elements

  View() = default;
  View(void* pointer, DType type, const Shape& s);  // contiguous, row-major
  View(void* pointer, DType type, const Shape& s, std::array<int64_t, Shape::max_rank> st)
      : data(pointer), dtype(type), shape(s), strides(st) {}

  bool defined() const { return data != nullptr; }
  int64_t numel() const { return shape.numel(); }
  int64_t bytes() const { return numel() * size_of(dtype); }  // of the elements, not of the span
  int rank() const { return shape.rank(); }
  int64_t dim(int i) const { return shape[i]; }
  int64_t stride(int i) const { return strides[static_cast<size_t>(i < 0 ? i + rank() : i)]; }
  bool contiguous() const;

  template <typename T>
  T* as() const {
    SHOAL_CHECK(dtype_of<T>() == dtype);
    return static_cast<T*>(data);
  }

  View reshape(const Shape& s) const;                       // contiguous views only, same count
  View slice(int dim, int64_t begin, int64_t count) const;  // narrows one dim
};

// The same elements in one dim; contiguous views only.
inline View flat(const View& view) {
  return view.reshape({view.numel()});
}

}  // namespace shoal
