// Choosing the next token from a row of logits.
#pragma once

#include <cstdint>
#include <span>

namespace shoal {

struct Sampling {
  double temperature = 1.0;  // logits are divided by it; 0: greedy
  int64_t top_k = 0;         // only the k most likely tokens; 0: all
  double top_p =
      1.0;  // then only the fewest most likely tokens whose probabilities reach p (Holtzman et al. 2020)
};

// The token that a uniform draw in [0, 1) picks. Candidates are in order of falling logits, equal ones in
// order of ids, so that greedy takes the first maximum; probabilities are f64.
int32_t sample(std::span<const float> logits, const Sampling& options, double uniform);

}  // namespace shoal
