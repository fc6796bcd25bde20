// The parts of the state that the ranks of a grid hold, brought to the first rank to be written.
#pragma once

#include <vector>

#include "checkpoint/checkpoint.h"
#include "comm/communicator.h"

namespace shoal {

class GatheredState {
 public:
  // parts: f32, this rank's, none of them on another rank as well. Collective. The first rank takes as much
  // host memory as the others' parts take together.
  GatheredState(std::vector<StateTensor> parts, Communicator& world);

  // On the first rank all parts, which live as long as this does and as its own; nothing on the others.
  const std::vector<StateTensor>& tensors() const { return tensors_; }

 private:
  std::vector<StateTensor> tensors_;
  std::vector<std::vector<float>> received_;  // of each rank
};

}  // namespace shoal
