// One line of a JSONL file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal {

struct JsonLineError {
  std::string what;
  size_t byte = 0;  // in the line, from 0
};

// Puts the string under `key` of the object in `line` into `text`. False and an error if the line is no JSON
// object or has no such string.
bool read_json_line(std::string_view line, std::string_view key, std::string& text, JsonLineError& error);

}  // namespace shoal
