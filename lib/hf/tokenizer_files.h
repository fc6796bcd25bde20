// The tokenizer's part of a Hugging Face folder.
#pragma once

#include <cstdint>
#include <string>

#include "hf/config.h"

namespace shoal {

// Copies tokenizer.json and the small files beside it that are there. Returns whether there is a
// tokenizer.json.
bool copy_tokenizer_files(const std::string& from_folder, const std::string& to_folder);

// Writes tokenizer.json and what belongs to it for data.tokenizer, "byte" or a path: files beside the
// tokenizer.json are taken over, and those that are not there are made. Returns the ids for config.json.
// Throws UserError if the tokenizer cannot be read.
HfTokenIds write_tokenizer_files(const std::string& tokenizer, const std::string& to_folder,
                                 int64_t max_positions);

// generation_config.json: greedy unless the caller of transformers says otherwise.
std::string generation_config(const HfTokenIds& ids);

}  // namespace shoal
