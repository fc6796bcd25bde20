// What the values of a spec say about each other. Each value on its own is checked by the key table.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "spec/run_spec.h"

namespace shoal {

// Keys that contradict each other. The most telling key comes first; the reader adds where it was written.
struct Conflict {
  std::vector<std::string> keys;
  Problem problem;
};

// Contradictions within the model section, and within the whole spec (the model's included). Looks at no
// file.
std::vector<Conflict> model_conflicts(const ModelSection& model);
std::vector<Conflict> spec_conflicts(const RunSpec& spec);

// What a run needs to be there: training data, the tokenizer's file, the .bin and .idx of every source.
// Relative paths are relative to the working directory.
std::vector<Conflict> missing_inputs(const RunSpec& spec);

// Derived sizes, for shapes without conflicts.
int64_t resolved_head_dim(const ModelSection& model);
int64_t resolved_rotary_dims(const ModelSection& model);  // head_dim * rotary_fraction, rounded down

// Below 1 a fraction of the steps, else steps.
int64_t steps_of(double fraction_or_steps, int64_t steps);

}  // namespace shoal
