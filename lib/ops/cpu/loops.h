// How the kernels go through views: by type, by rows, in tasks whose number depends on the shape only, so
// that no result depends on the number of threads.
#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "device/device.h"
#include "tensor/view.h"

namespace shoal::cpu {

// Calls f with a value of the element type.
template <typename F>
void with_type(DType dtype, F&& f) {
  if (dtype == DType::f32) return f(float{});
  if (dtype == DType::bf16) return f(bf16{});
  SHOAL_CHECK(false);
}

// Calls f with values of the two element types.
template <typename F>
void with_types(DType first, DType second, F&& f) {
  with_type(first, [&](auto a) { with_type(second, [&](auto b) { f(a, b); }); });
}

// f(task) for every task; work is the number of elements in all of them. Too little of it is not worth waking
// threads.
template <typename F>
void parallel_for(int64_t tasks, int64_t work, F&& f) {
  constexpr int64_t worth_a_team = 8192;
#pragma omp parallel for schedule(static) if (tasks > 1 && work >= worth_a_team)
  for (int64_t task = 0; task < tasks; ++task) f(task);
}

template <typename T>
T* row(const View& matrix, int64_t i) {
  return static_cast<T*>(matrix.data) + i * matrix.stride(0);
}

// The elements of views of one shape as runs that lie together in all of them.
template <size_t N>
class Runs {
 public:
  explicit Runs(const std::array<View, N>& views) : views_(views) {
    const View& first = views[0];
    int d = first.rank() - 1;
    if (d >= 0) length_ = first.dim(d--);
    while (d >= 0 && joins(d)) length_ *= first.dim(d--);
    outer_ = d + 1;
    for (; d >= 0; --d) count_ *= first.dim(d);
  }

  int64_t length() const { return length_; }
  int64_t count() const { return count_; }

  // Where run i begins in view k, in elements.
  int64_t offset(size_t k, int64_t i) const {
    int64_t at = 0;
    for (int d = outer_ - 1; d >= 0; --d) {
      at += i % views_[k].dim(d) * views_[k].stride(d);
      i /= views_[k].dim(d);
    }
    return at;
  }

 private:
  bool joins(int d) const {
    return std::all_of(views_.begin(), views_.end(), [&](const View& v) { return v.stride(d) == length_; });
  }

  std::array<View, N> views_;
  int64_t length_ = 1, count_ = 1;
  int outer_ = 0;
};

// The elements in pieces of a fixed size: f(task, n, offsets...) gets where n elements lie in each view.
template <size_t N>
class Pieces {
 public:
  static constexpr int64_t size = 16384;

  explicit Pieces(const std::array<View, N>& views)
      : runs_(views), per_run_((runs_.length() + size - 1) / size) {}

  int64_t count() const { return runs_.count() * per_run_; }

  template <typename F>
  void for_each(F&& f) const {
    parallel_for(count(), runs_.count() * runs_.length(), [&](int64_t task) {
      const int64_t run = task / per_run_, begin = task % per_run_ * size;
      std::array<int64_t, N> at;
      for (size_t k = 0; k < N; ++k) at[k] = runs_.offset(k, run) + begin;
      f(task, std::min(size, runs_.length() - begin), at);
    });
  }

 private:
  Runs<N> runs_;
  int64_t per_run_;
};

// Column sums of something computed row by row: each block of rows sums into a buffer of its own, and the
// buffers are added in order.
class ColumnSums {
 public:
  static constexpr int64_t block_rows = 64;

  ColumnSums(Device& device, int64_t rows, int64_t columns)
      : blocks_((rows + block_rows - 1) / block_rows), columns_(columns) {
    if (columns > 0 && rows > 0) partial_ = Tensor(device, DType::f32, {blocks_, columns});
  }

  int64_t blocks() const { return blocks_; }
  float* block(int64_t i) const { return static_cast<float*>(partial_.view().data) + i * columns_; }

  // out[j] += the sum of column first + j.
  void add_to(const View& out, int64_t first = 0) const {
    float* const to = out.as<float>();
    for (int64_t b = 0; b < blocks_; ++b) {
      const float* const from = block(b) + first;
#pragma omp simd
      for (int64_t j = 0; j < out.numel(); ++j) to[j] += from[j];
    }
  }

 private:
  int64_t blocks_, columns_;
  Tensor partial_;
};

}  // namespace shoal::cpu
