// Where a run is, beside its tensors. Everything else follows from this and the spec.
#pragma once

#include <cstdint>

namespace shoal {

struct TrainState {
  int64_t step = 0;      // steps done, skipped updates included
  int64_t updates = 0;   // updates applied: what the schedule and the optimizer count
  int64_t consumed = 0;  // samples taken from the training order
};

}  // namespace shoal
