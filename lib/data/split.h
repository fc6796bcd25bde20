// Cutting a set into training, validation and test by a split string.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace shoal {

// The boundaries {0, a, b, size} of three contiguous ranges, by GPT-NeoX's rule: up to three shares,
// separated by commas or slashes, each range's length rounded half to even, and the difference to size taken
// from every boundary. "969,30,1" of 1000 gives 0, 969, 999, 1000. Throws UserError at a string that is no
// list of shares.
std::array<int64_t, 4> split_ranges(const std::string& split, int64_t size);

// The same by Megatron-LM's rule: each boundary is the rounded sum of the shares before it.
std::array<int64_t, 4> split_ranges_megatron(const std::string& split, int64_t size);

}  // namespace shoal
