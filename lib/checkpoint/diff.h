// How two checkpoints differ.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace shoal {

// A tensor that is not bit-equal in both.
struct TensorDifference {
  std::string name;
  std::string problem;  // "only in the first", "f32 [2] against f32 [3]"; then the numbers below are 0
  double max_abs = 0;   // largest |a - b| of an element
  double max_rel = 0;   // largest |a - b| / max(|a|, |b|)
  double norm_a = 0, norm_b = 0, norm_difference = 0;  // Euclidean, in double
};

struct CheckpointDiff {
  std::vector<std::string> state;  // step, consumed samples and state texts: one line each that differs
  std::vector<std::string> spec;   // "optimizer.lr: 0.001 against 0.002"
  std::vector<TensorDifference> tensors;  // by name
  size_t equal_tensors = 0;               // with equal type, shape and hash

  // The same training state, bit for bit. The spec does not count: it also says where a run lies and how it
  // is watched.
  bool same_state() const { return state.empty() && tensors.empty(); }
};

CheckpointDiff diff_checkpoints(CheckpointReader& a, CheckpointReader& b);

// The lines in which two resolved specs differ, as key paths.
std::vector<std::string> diff_specs(const std::string& a, const std::string& b);

}  // namespace shoal
