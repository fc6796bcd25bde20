#include <numeric>
#include <vector>

#include "ops/cpu/kernels.h"
#include "ops/cpu/loops.h"
#include "ops/cpu/vector_math.h"

namespace shoal::cpu {
namespace {

template <typename From, typename To>
void cast_kernel(const View& from, const View& to) {
  Pieces<2>({from, to}).for_each([&](int64_t, int64_t n, const std::array<int64_t, 2>& at) {
    const From* const x = from.as<From>() + at[0];
    To* const y = to.as<To>() + at[1];
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) store(y + i, load(x[i]));
  });
}

}  // namespace

void add(const View& a, const View& b, const View& out) {
  with_type(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    Pieces<3>({a, b, out}).for_each([&](int64_t, int64_t n, const std::array<int64_t, 3>& at) {
      const T *const x = a.as<T>() + at[0], *const y = b.as<T>() + at[1];
      T* const z = out.as<T>() + at[2];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) store(z + i, load(x[i]) + load(y[i]));
    });
  });
}

void bias_grad(Device& device, const View& dy, const View& dbias) {
  constexpr int64_t strip_columns = 512;
  const int64_t rows = dy.dim(0), columns = dy.dim(1);
  const ColumnSums sums(device, rows, columns);
  const int64_t strips = (columns + strip_columns - 1) / strip_columns;
  with_type(dy.dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(sums.blocks() * strips, rows * columns, [&](int64_t task) {
      const int64_t block = task / strips, first = task % strips * strip_columns;
      const int64_t width = std::min(strip_columns, columns - first);
      const int64_t begin = block * ColumnSums::block_rows,
                    end = std::min(begin + ColumnSums::block_rows, rows);
      float* const to = sums.block(block) + first;
      std::fill_n(to, width, 0.0f);
      for (int64_t i = begin; i < end; ++i) {
        const T* const from = row<T>(dy, i) + first;
#pragma omp simd
        for (int64_t j = 0; j < width; ++j) to[j] += load(from[j]);
      }
    });
  });
  sums.add_to(dbias);
}

double sum_squares(const View& x) {
  const Pieces<1> pieces({x});
  std::vector<double> partial(static_cast<size_t>(pieces.count()));
  with_type(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    pieces.for_each([&](int64_t task, int64_t n, const std::array<int64_t, 1>& at) {
      const T* const from = x.as<T>() + at[0];
      partial[static_cast<size_t>(task)] = sum<double>(n, [=](int64_t i) {
        const double value = double(load(from[i]));
        return value * value;
      });
    });
  });
  return std::accumulate(partial.begin(), partial.end(), 0.0);
}

void scale(const View& x, float factor) {
  with_type(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    Pieces<1>({x}).for_each([&](int64_t, int64_t n, const std::array<int64_t, 1>& at) {
      T* const values = x.as<T>() + at[0];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) store(values + i, load(values[i]) * factor);
    });
  });
}

void cast(const View& from, const View& to) {
  with_type(from.dtype, [&](auto x) {
    with_type(to.dtype, [&](auto y) { cast_kernel<decltype(x), decltype(y)>(from, to); });
  });
}

void fill(const View& x, float value) {
  with_type(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    Pieces<1>({x}).for_each([&](int64_t, int64_t n, const std::array<int64_t, 1>& at) {
      T* const values = x.as<T>() + at[0];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) store(values + i, value);
    });
  });
}

void axpby(float a, const View& x, float b, const View& y) {
  Pieces<2>({x, y}).for_each([&](int64_t, int64_t n, const std::array<int64_t, 2>& at) {
    const float* const from = x.as<float>() + at[0];
    float* const to = y.as<float>() + at[1];
    if (b == 0.0f) {  // y may hold anything, also NaN
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) to[i] = a * from[i];
    } else {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) to[i] = a * from[i] + b * to[i];
    }
  });
}

// In square tiles, so that the transposed side is read and written in whole cache lines. A task owns the
// tiles of one block row left of the diagonal, and their mirror images.
void symmetrize(const View& x) {
  constexpr int64_t tile = 32;
  const int64_t size = x.dim(0), blocks = (size + tile - 1) / tile;
  parallel_for(blocks, size * size, [&](int64_t block) {
    const int64_t end = std::min((block + 1) * tile, size);
    for (int64_t first = 0; first < end; first += tile) {
      for (int64_t i = block * tile; i < end; ++i) {
        for (int64_t j = first; j < std::min(first + tile, i); ++j) {
          float &below = row<float>(x, i)[j], &above = row<float>(x, j)[i];
          below = above = 0.5f * (below + above);
        }
      }
    }
  });
}

}  // namespace shoal::cpu
