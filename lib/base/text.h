// Small text helpers for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

// Levenshtein distance where swapping two neighbours also counts as one (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

// The candidate closest to word, or "" if none is close enough to be what was meant. '-' and '_' are the
// same.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "a, b or c"
std::string join_choices(const std::vector<std::string>& choices, std::string_view last_separator = " or ");

// '_' for every '-', so that two spellings of one key compare equal.
std::string underscored(std::string_view word);

// 1234567 as "1,234,567".
std::string with_commas(int64_t value);

// The text in lines of at most width columns, broken at spaces, each after the first indented.
std::string wrapped(std::string_view text, int width, int indent);

}  // namespace shoal
