// The modes of op_driver. Each returns the process's exit code: 0 when all is well.
#pragma once

#include <cstdint>
#include <string>

#include "ops/ops.h"

namespace shoal::testing {

struct Selection {
  std::string op;  // empty: all
  uint64_t seed = 1;
  int cases = 40;  // a case and type
};

int run_test(Ops& backend, const Selection& selection);
int run_grad(Ops& backend, const Selection& selection);
int run_perf(Ops& backend, const Selection& selection);
int run_support(Ops& backend);

}  // namespace shoal::testing
