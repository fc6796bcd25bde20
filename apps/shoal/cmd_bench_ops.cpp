#include <fmt/format.h>

#include "ops/measure/tables.h"
#include "shoal/commands.h"

namespace shoal {
namespace {

struct Bench {
  std::vector<StepShape> shapes;
  std::vector<DType> dtypes;
  double seconds;
};

Bench bench_of(const Invocation& given) {
  const std::string shape = given.text("--shape", "all"), dtype = given.text("--dtype", "all");
  Bench bench{.seconds = given.number("--seconds", 0.1, 0.001, 60)};
  for (StepShape& s : std::vector{pythia_70m_step(), gpt_25m_step()}) {
    if (shape == "all" || shape == s.name) bench.shapes.push_back(std::move(s));
  }
  for (DType type : {DType::f32, DType::bf16}) {
    if (dtype == "all" || dtype == name_of(type)) bench.dtypes.push_back(type);
  }
  return bench;
}

// Prints table(ops, dtype, shape) for all that was asked for.
template <typename F>
int print_tables(const Bench& bench, F&& table) {
  const auto device = make_device("cpu");
  const auto ops = make_ops(*device);
  for (const StepShape& shape : bench.shapes) {
    for (DType dtype : bench.dtypes) {
      if (!ops->supports(Op::matmul, dtype)) continue;
      fmt::print("{}, {} x {} tokens, {}\n", shape.name, shape.batch, shape.sequence, name_of(dtype));
      fmt::print("{}\n", table(*ops, dtype, shape).text);
    }
  }
  return 0;
}

int gemm(const Invocation& given) {
  const Bench bench = bench_of(given);
  return print_tables(bench, [&](Ops& ops, DType dtype, const StepShape& shape) {
    return product_table(ops, dtype, shape, bench.seconds);
  });
}

int kernels(const Invocation& given) {
  const Bench bench = bench_of(given);
  const std::string only = given.text("--op");
  return print_tables(bench, [&](Ops& ops, DType dtype, const StepShape& shape) {
    return kernel_table(ops, dtype, shape, only, bench.seconds);
  });
}

std::vector<Flag> bench_flags() {
  return {{.name = "--shape",
           .value = "NAME",
           .doc = "The model whose shapes are measured.",
           .choices = {"pythia-70m", "gpt-25m", "all"}},
          {.name = "--dtype", .value = "TYPE", .doc = "The compute type.", .choices = {"f32", "bf16", "all"}},
          {.name = "--seconds", .value = "S", .doc = "How long each line is measured; 0.1 if not given."}};
}

}  // namespace

Command bench_gemm_command() {
  return {.name = "gemm",
          .summary = "measure the matrix products of a training step",
          .description =
              "Times each product alone: forward, the input's gradient and the weight's. The last line is "
              "the speed of all products of a step together, which model FLOP utilisation compares with.",
          .flags = bench_flags(),
          .examples = {{"shoal bench gemm --dtype bf16", "What the machine does in bf16."}},
          .run = gemm};
}

Command bench_ops_command() {
  std::vector<Flag> flags = bench_flags();
  flags.push_back({.name = "--op", .value = "NAME", .doc = "Only the operations whose name begins so."});
  return {.name = "ops",
          .summary = "measure the operations that are not matrix products",
          .description =
              "Times each operation at the size that a training step has, beside the speed of a copy that "
              "moves as many bytes.",
          .flags = std::move(flags),
          .examples = {{"shoal bench ops --op layernorm", "LayerNorm, forward and backward."}},
          .run = kernels};
}

}  // namespace shoal
