// The cases of an operation: functions that draw random operands and run it on both sides of a trial.
#pragma once

#include <string>
#include <vector>

#include "ops/driver/trial.h"

namespace shoal::testing {

struct Case {
  std::string name;
  Op op;  // what supports() is asked
  void (*run)(Trial& trial);
};

// Conformance: the outputs of the backend against the reference's, for each function of Ops.
const std::vector<Case>& all_cases();

// Gradients: for each differentiable operation, forward and backward, against finite differences.
const std::vector<Case>& all_gradient_cases();

}  // namespace shoal::testing
