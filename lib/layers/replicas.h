// Copies of weights that several ranks hold must stay equal to the bit; memory that is not, or a collective
// that gave ranks different sums, shows here first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layers/parameter.h"

namespace shoal {

// Compares hashes of all weights among the ranks that should hold the same part: over data, and over every
// other axis that does not cut a parameter. `world` is the group of all ranks in the grid's order.
// Collective. Returns a line for each parameter whose copies differ, the same on every rank: which ranks are
// alone, or, where no copy has the majority, who holds which. Empty: all are equal.
std::vector<std::string> replica_differences(const ParameterRegistry& parameters, const Context& context,
                                             Communicator& world);

}  // namespace shoal
