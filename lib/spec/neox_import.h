// Run specs from the YAML files of GPT-NeoX (github.com/EleutherAI/gpt-neox, configs/), such as those that
// the Pythia suite was trained from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

struct NeoxImport {
  std::string yaml;  // a run spec; each value with the file and line it comes from
  std::vector<std::string>
      notes;  // where a run of shoal would differ, or depends on what the files do not say
  std::vector<std::string> left_out;  // keys without an equivalent here, with their places
};

// Merges the files in order, later values win; '-' and '_' are the same, numbers may be written as text.
// data_ranks: the published run's data-parallel ranks, which the files do not say and the global batch
// depends on; 0: not known. Throws UserError with the place for text that is no YAML, values that contradict
// each other, and what shoal cannot train.
NeoxImport import_neox(const std::vector<std::string>& files, int64_t data_ranks);

}  // namespace shoal
