#include "ops/reference/elements.h"
#include "ops/reference/kernels.h"

namespace shoal::reference {

void matmul(const MatmulArgs& args) {
  const Elements a(args.a), b(args.b), c(args.c), bias(args.bias);
  const int64_t rows = args.c.dim(0), columns = args.c.dim(1), inner = args.a.dim(args.transpose_a ? 0 : 1);
  SHOAL_CHECK(args.a.dim(args.transpose_a ? 1 : 0) == rows);
  SHOAL_CHECK(args.b.dim(args.transpose_b ? 1 : 0) == inner &&
              args.b.dim(args.transpose_b ? 0 : 1) == columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = args.accumulate ? c(i, j) : 0.0;
      if (args.bias.defined()) sum += bias(j);
      for (int64_t k = 0; k < inner; ++k) {
        sum += (args.transpose_a ? a(k, i) : a(i, k)) * (args.transpose_b ? b(j, k) : b(k, j));
      }
      c.set(sum, i, j);
    }
  }
}

}  // namespace shoal::reference
