// Numbers and words as a run spec writes them.
//
// An integer: 4096, 4_096, -1, and also 1e3 or 4.096e3, which have an integral value. No 0x10, and no 010,
// which YAML 1.1 and 1.2 read differently. A number: 0.1, .5, 5., 1e-8, 1_000.5. No nan, no inf. A truth
// value: true, false, and YAML 1.1's yes, no, on, off, in any case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shoal {

std::optional<double> parse_number(const std::string& text);
std::optional<int64_t> parse_integer(const std::string& text);
std::optional<uint64_t> parse_unsigned(const std::string& text);
std::optional<bool> parse_truth(const std::string& text);

// The shortest text that parse_number reads back to the same bits.
std::string format_number(double value);

// Whether every character may stand in a text value: valid UTF-8 without control characters.
bool is_printable_utf8(const std::string& text);

// The text as a YAML scalar: plain where YAML reads that as the same text, else in double quotes.
std::string quoted_if_needed(const std::string& text);

}  // namespace shoal
