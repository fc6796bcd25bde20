#include "spec/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace shoal {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Without '_' between digits and without a leading '+'. Empty if a '_' stands elsewhere.
std::string cleaned(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && i == 0) continue;
    if (text[i] != '_') {
      result += text[i];
    } else if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
      return "";
    }
  }
  return result;
}

template <typename T>
std::optional<T> whole(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// 010 is eight in YAML 1.1 and ten in YAML 1.2.
bool has_leading_zero(const std::string& text) {
  const size_t first = !text.empty() && text[0] == '-' ? 1 : 0;
  return text.size() > first + 1 && text[first] == '0' && is_digit(text[first + 1]);
}

template <typename T>
std::optional<T> parse_integral(const std::string& raw) {
  const std::string text = cleaned(raw);
  if (text.empty() || has_leading_zero(text)) return std::nullopt;
  if (const auto value = whole<T>(text)) return value;
  const auto value = parse_number(raw);
  constexpr double kExact = 9007199254740992.0;  // 2^53: every integer up to here is a double
  if (!value || *value != std::floor(*value) || std::abs(*value) > kExact) return std::nullopt;
  if (std::is_unsigned_v<T> && *value < 0) return std::nullopt;
  return T(*value);
}

}  // namespace

std::optional<double> parse_number(const std::string& raw) {
  const std::string text = cleaned(raw);
  if (text.empty() || has_leading_zero(text)) return std::nullopt;
  const auto value = whole<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_integer(const std::string& text) {
  return parse_integral<int64_t>(text);
}

std::optional<uint64_t> parse_unsigned(const std::string& text) {
  return parse_integral<uint64_t>(text);
}

std::optional<bool> parse_truth(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  if (lower == "true" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "no" || lower == "off") return false;
  return std::nullopt;
}

std::string format_number(double value) {
  return fmt::format("{}", value);
}

bool is_printable_utf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t at) { return at < text.size() ? uint32_t(uint8_t(text[at])) : 0u; };
    const uint32_t lead = byte(i);
    if (lead < 0x80) {
      if (lead < 0x20 || lead == 0x7f) return false;
      ++i;
      continue;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    uint32_t code = lead & (0xffu >> (length + 1));
    for (size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return false;
      code = code << 6 | (byte(i + k) & 0x3f);
    }
    const uint32_t smallest = length == 4 ? 0x10000u : length == 3 ? 0x800u : 0x80u;
    const bool c1_or_separator = code < 0xa0 || code == 0x2028 || code == 0x2029 || code == 0xfeff;
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (lead < 0xc0 || code < smallest || code > 0x10ffff || surrogate || c1_or_separator) return false;
    i += length;
  }
  return true;
}

std::string quoted_if_needed(const std::string& text) {
  const auto plain = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.' || c == '/';
  };
  const bool all_plain = !text.empty() && text[0] != '-' && std::all_of(text.begin(), text.end(), plain);
  const bool other_type =
      parse_number(text) || parse_truth(text) || text == "null" || text == "Null" || text == "NULL";
  if (all_plain && !other_type) return text;
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace shoal
