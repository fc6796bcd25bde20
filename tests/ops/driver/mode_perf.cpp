#include <fmt/format.h>

#include "ops/driver/modes.h"
#include "ops/measure/tables.h"

namespace shoal::testing {

int run_perf(Ops& backend, const Selection& selection) {
  constexpr double seconds = 0.1;  // for each line
  const bool all = selection.op.empty(), products = all || selection.op == "matmul";
  for (const StepShape& shape : {pythia_70m_step(), gpt_25m_step()}) {
    for (DType dtype : {DType::f32, DType::bf16}) {
      fmt::print("\n{} {}\n", shape.name, name_of(dtype));
      if (products && backend.supports(Op::matmul, dtype)) {
        fmt::print("{}", product_table(backend, dtype, shape, seconds).text);
      }
      if (all || !products) fmt::print("{}", kernel_table(backend, dtype, shape, selection.op, seconds).text);
    }
  }
  return 0;
}

}  // namespace shoal::testing
