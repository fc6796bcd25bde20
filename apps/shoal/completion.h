// Shell completion scripts, written from the command table and the key table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shoal/command.h"
#include "spec/key_table.h"

namespace shoal {

std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);

// Every command and group with its full name: {"shoal data tokenize", command}.
std::vector<std::pair<std::string, const Command*>> all_commands(const Command& root);

// The values that may be offered for a key; empty for numbers and free text.
std::vector<std::string> value_words(const Key& key);

// How the command's positional words are completed; nothing if it takes none.
bool takes(const Command& command, Completes what);

}  // namespace shoal
