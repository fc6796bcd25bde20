#include "ops/measure/tables.h"

#include <fmt/format.h>

#include <map>

namespace shoal {
namespace {

std::string_view name_of(Product::Pass pass) {
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

}  // namespace

BenchTable product_table(Ops& ops, DType dtype, const StepShape& shape, double seconds) {
  BenchTable table;
  double flops = 0;
  table.text = fmt::format("{:<8}{:<12}{:>7}{:>7}{:>7}{:>12}{:>9}\n", "weight", "pass", "M", "N", "K", "ms",
                           "GFLOP/s");
  for (const Product& p : products_of(shape)) {
    const double time = measure_product(ops, dtype, p, seconds);
    table.step_seconds += p.count * time;
    flops += p.count * p.flops();
    table.text += fmt::format("{:<8}{:<12}{:>7}{:>7}{:>7}{:>12.3f}{:>9.0f}\n", p.name, name_of(p.pass), p.m,
                              p.n, p.k, time * 1e3, p.flops() / time * 1e-9);
  }
  table.text += fmt::format("{:<41}{:>12.3f}{:>9.0f}\n", "all of a step", table.step_seconds * 1e3,
                            flops / table.step_seconds * 1e-9);
  return table;
}

BenchTable kernel_table(Ops& ops, DType dtype, const StepShape& shape, const std::string& only,
                        double seconds) {
  BenchTable table;
  std::map<int64_t, double> copies;
  table.text = fmt::format("{:<20}{:>12}{:>9}{:>12}{:>9}{:>12}\n", "operation", "ms", "GB/s", "copy GB/s",
                           "a step", "ms a step");
  for (const KernelCall& call : kernels_of(ops, dtype, shape)) {
    if (call.name.compare(0, only.size(), only) != 0) continue;
    const double time = least_time(ops, seconds, [&] { call.run(ops); });
    double& copy = copies[call.bytes];
    if (copy == 0) copy = measure_copy(ops, call.bytes, seconds / 2);
    table.step_seconds += call.count * time;
    table.text +=
        fmt::format("{:<20}{:>12.3f}{:>9.1f}{:>12.1f}{:>9.0f}{:>12.3f}\n", call.name, time * 1e3,
                    double(call.bytes) / time * 1e-9, copy * 1e-9, call.count, call.count * time * 1e3);
  }
  table.text += fmt::format("{:<62}{:>12.3f}\n", "all of a step", table.step_seconds * 1e3);
  return table;
}

}  // namespace shoal
