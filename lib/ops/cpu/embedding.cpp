#include "ops/cpu/kernels.h"
#include "ops/cpu/loops.h"
#include "ops/cpu/vector_math.h"

namespace shoal::cpu {

void embedding(const EmbeddingArgs& args) {
  const int64_t rows = args.y.dim(0), columns = args.y.dim(1);
  const int32_t* const tokens = args.tokens.as<int32_t>();
  with_types(args.table.dtype, args.y.dtype, [&](auto from_zero, auto to_zero) {
    using From = decltype(from_zero);
    using T = decltype(to_zero);
    parallel_for(rows, rows * columns, [&](int64_t i) {
      const int64_t entry = tokens[i] - args.first_row;
      T* const y = row<T>(args.y, i);
      if (tokens[i] < 0 || entry < 0 || entry >= args.table.dim(0)) {
        std::fill_n(y, columns, T(0.0f));
        return;
      }
      const From* const from = row<From>(args.table, entry);
#pragma omp simd
      for (int64_t j = 0; j < columns; ++j) store(y + j, args.scale * load(from[j]));
    });
  });
}

// A token may occur many times: each task owns a strip of columns and goes through the tokens in order.
void embedding_grad(const EmbeddingGradArgs& args) {
  constexpr int64_t strip_columns = 64;
  const int64_t rows = args.dy.dim(0), columns = args.dy.dim(1);
  const int32_t* const tokens = args.tokens.as<int32_t>();
  with_type(args.dy.dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for((columns + strip_columns - 1) / strip_columns, rows * columns, [&](int64_t strip) {
      const int64_t first = strip * strip_columns, end = std::min(first + strip_columns, columns);
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t entry = tokens[i] - args.first_row;
        if (tokens[i] < 0 || entry < 0 || entry >= args.dtable.dim(0)) continue;
        const T* const dy = row<T>(args.dy, i);
        float* const to = row<float>(args.dtable, entry);
#pragma omp simd
        for (int64_t j = first; j < end; ++j) to[j] += args.scale * load(dy[j]);
      }
    });
  });
}

}  // namespace shoal::cpu
