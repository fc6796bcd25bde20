// Embedding: a token selects a row. The gradient adds the rows of equal tokens in the order of the batch.
#include "ops/gpu/element.h"
#include "ops/gpu/kernels.h"

namespace shoal::gpu {
namespace {

// The row of a token in a shard that begins at `first`, or -1.
__device__ int64_t local_row(int32_t token, int64_t first, int64_t rows) {
  const int64_t row = int64_t(token) - first;
  return token >= 0 && row >= 0 && row < rows ? row : -1;
}

template <typename T, typename Out>
struct Lookup {
  const int32_t* tokens;
  Rows<T> table;
  Rows<Out> y;
  int64_t first_row, rows, columns;
  float scale;
  __device__ void operator()(int64_t at) const {
    const int64_t i = at / columns, j = at % columns;
    const int64_t row = local_row(tokens[i], first_row, rows);
    store(&y[i][j], row < 0 ? 0.0f : scale * load(table[row][j]));
  }
};

// A thread owns a column, so that no two add to one element.
template <typename T>
struct Scatter {
  const int32_t* tokens;
  Rows<T> dy;
  Rows<float> dtable;
  int64_t first_row, rows, tokens_count;
  float scale;
  __device__ void operator()(int64_t j) const {
    for (int64_t i = 0; i < tokens_count; ++i) {
      const int64_t row = local_row(tokens[i], first_row, rows);
      if (row >= 0) dtable[row][j] += scale * load(dy[i][j]);
    }
  }
};

}  // namespace

void embedding(Stream stream, const EmbeddingArgs& args) {
  with_type(args.table.dtype, [&](auto from) {
    with_type(args.y.dtype, [&](auto to) {
      using T = decltype(from);
      using Out = decltype(to);
      for_each(stream, args.y.numel(),
               Lookup<T, Out>{args.tokens.as<int32_t>(), Rows<T>(args.table), Rows<Out>(args.y),
                              args.first_row, args.table.dim(0), args.y.dim(1), args.scale});
    });
  });
}

void embedding_grad(Stream stream, const EmbeddingGradArgs& args) {
  with_type(args.dy.dtype, [&](auto type) {
    using T = decltype(type);
    for_each(stream, args.dy.dim(1),
             Scatter<T>{args.tokens.as<int32_t>(), Rows<T>(args.dy), Rows<float>(args.dtable), args.first_row,
                        args.dtable.dim(0), args.dy.dim(0), args.scale});
  });
}

}  // namespace shoal::gpu
