// What was measured, as text: for `shoal bench` and for the operations' test driver.
#pragma once

#include <string>

#include "ops/measure/measure.h"

namespace shoal {

struct BenchTable {
  std::string text;
  double step_seconds = 0;  // what a whole training step of the shape spends here
};

// A line for each product, and the rate of all products of a step together. seconds: of measuring, for each
// line.
BenchTable product_table(Ops& ops, DType dtype, const StepShape& shape, double seconds);

// A line for each kernel whose name begins with `only`, against a copy of as many bytes.
BenchTable kernel_table(Ops& ops, DType dtype, const StepShape& shape, const std::string& only,
                        double seconds);

}  // namespace shoal
