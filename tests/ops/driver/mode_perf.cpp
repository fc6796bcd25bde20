#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ops/driver/modes.h"
#include "ops/measure/measure.h"

namespace shoal::testing {
namespace {

constexpr double seconds = 0.1;  // of measuring, for each line

std::string_view name_of_pass(Product::Pass pass) {
  switch (pass) {
    case Product::Pass::forward:
      return "forward";
    case Product::Pass::input_grad:
      return "input grad";
    case Product::Pass::weight_grad:
      return "weight grad";
  }
  SHOAL_CHECK(false);
}

// Prints the products; returns the time that those of a step take.
double products(Ops& ops, DType dtype, const StepShape& shape) {
  double step_time = 0, step_flops = 0;
  for (const Product& p : products_of(shape)) {
    const double time = measure_product(ops, dtype, p, seconds);
    step_time += p.count * time, step_flops += p.count * p.flops();
    fmt::print("  {:<8} {:<12} [{}, {}, {}]{:>10.3f} ms {:>7.0f} GFLOP/s\n", p.name, name_of_pass(p.pass),
               p.m, p.n, p.k, time * 1e3, p.flops() / time * 1e-9);
  }
  fmt::print("  products of a step: {:.1f} ms, {:.0f} GFLOP/s\n", step_time * 1e3,
             step_flops / step_time * 1e-9);
  return step_time;
}

// Prints the kernels against a copy of as many bytes; returns the time that those of a step take.
double kernels(Ops& ops, DType dtype, const StepShape& shape, const std::string& only) {
  std::map<int64_t, double> copies;
  double step_time = 0;
  for (const KernelCall& call : kernels_of(ops, dtype, shape)) {
    if (!only.empty() && call.name.substr(0, only.size()) != only) continue;
    const double time = least_time(ops, seconds, [&] { call.run(ops); });
    double& copy = copies[call.bytes];
    if (copy == 0) copy = measure_copy(ops, call.bytes, seconds / 2);
    step_time += call.count * time;
    fmt::print("  {:<20} x{:<3.0f}{:>10.3f} ms {:>7.1f} GB/s, a copy has {:>6.1f}{:>10.2f} ms a step\n",
               call.name, call.count, time * 1e3, double(call.bytes) / time * 1e-9, copy * 1e-9,
               call.count * time * 1e3);
  }
  return step_time;
}

}  // namespace

int run_perf(Ops& backend, const Selection& selection) {
  for (const StepShape& shape : {pythia_70m_step(), gpt_25m_step()}) {
    for (DType dtype : {DType::f32, DType::bf16}) {
      fmt::print("{} {}\n", shape.name, name_of(dtype));
      const bool multiplies = selection.op.empty() || selection.op == "matmul";
      const double in_products =
          multiplies && backend.supports(Op::matmul, dtype) ? products(backend, dtype, shape) : 0;
      if (selection.op == "matmul") continue;
      const double elsewhere = kernels(backend, dtype, shape, selection.op);
      if (multiplies)
        fmt::print("  the rest of a step: {:.1f} ms, {:.1f} % of it\n", elsewhere * 1e3,
                   100 * elsewhere / (elsewhere + in_products));
    }
  }
  return 0;
}

}  // namespace shoal::testing
