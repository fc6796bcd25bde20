// RougeL (Lin 2004): how much of a reference appears, in order, in a candidate.
#pragma once

#include <cstdint>
#include <span>

namespace shoal {

// Over token ids: the harmonic mean of L / |reference| and L / |candidate|, L being the length of the longest
// common subsequence. 1 for equal sequences, 0 if nothing is shared or one is empty.
double rouge_l(std::span<const int32_t> reference, std::span<const int32_t> candidate);

}  // namespace shoal
