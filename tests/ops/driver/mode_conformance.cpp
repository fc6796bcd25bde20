#include <fmt/format.h>

#include "ops/driver/cases.h"
#include "ops/driver/modes.h"
#include "ops/reference/reference_ops.h"

namespace shoal::testing {
namespace {

// The number of trials that failed; each is printed with the seed that repeats it alone.
int run_case(Ops& backend, Ops& reference, const Case& c, DType dtype, const Selection& selection) {
  int failed = 0;
  for (int i = 0; i < selection.cases; ++i) {
    const uint64_t seed = selection.seed + uint64_t(i);
    Trial trial(backend, reference, dtype, seed);
    c.run(trial);
    const auto failures = trial.failures();
    for (const std::string& failure : failures) {
      fmt::print("{} {} --seed {}: {}\n", c.name, name_of(dtype), seed, failure);
    }
    failed += failures.empty() ? 0 : 1;
  }
  return failed;
}

// Runs the selected cases in every type that the backend has.
int run_cases(Ops& backend, const Selection& selection, const std::vector<Case>& cases) {
  const auto reference = make_reference_ops(backend.device());
  int failed = 0, run = 0;
  for (const Case& c : cases) {
    if (!selection.op.empty() && selection.op != c.name) continue;
    for (DType dtype : {DType::f32, DType::bf16}) {
      if (!backend.supports(c.op, dtype)) continue;
      const int bad = run_case(backend, *reference, c, dtype, selection);
      fmt::print("{:<16} {:<5} {} of {} cases failed\n", c.name, name_of(dtype), bad, selection.cases);
      failed += bad;
      ++run;
    }
  }
  if (run == 0) fmt::print("there is nothing to run for {}\n", selection.op);
  return failed > 0 || run == 0 ? 1 : 0;
}

}  // namespace

int run_test(Ops& backend, const Selection& selection) {
  return run_cases(backend, selection, all_cases());
}

int run_grad(Ops& backend, const Selection& selection) {
  return run_cases(backend, selection, all_gradient_cases());
}

int run_support(Ops& backend) {
  fmt::print("{:<14} {:>6} {:>6}   ({})\n", "operation", "f32", "bf16", backend.name());
  for (int i = 0; i <= int(Op::symmetrize); ++i) {
    const Op op = static_cast<Op>(i);
    const auto mark = [&](DType dtype) { return backend.supports(op, dtype) ? "yes" : "no"; };
    fmt::print("{:<14} {:>6} {:>6}\n", name_of(op), mark(DType::f32), mark(DType::bf16));
  }
  return 0;
}

}  // namespace shoal::testing
