// Where the tokens of a corpus lie: PREFIX.bin, or the shards that published sets are cut into,
// PREFIX-00000-of-00020.bin to PREFIX-00020-of-00020.bin. The second number is the last shard's, as in the
// files of the Pythia suite; a number of shards is understood as well.
#pragma once

#include <string>
#include <vector>

namespace shoal {

// The files in order; empty if there is no PREFIX.bin and no complete set of shards.
std::vector<std::string> bin_files_of(const std::string& prefix);

}  // namespace shoal
