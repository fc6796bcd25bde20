#include "shoal/command.h"

#include <charconv>

#include "base/error.h"

namespace shoal {
namespace {

[[noreturn]] void bad_flag(const std::string& name, const std::string& value, const std::string& allowed) {
  throw UserError(Problem{.what = "wrong value", .where = name, .value = value, .allowed = allowed});
}

template <typename T>
bool parses(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string Invocation::text(const std::string& name, const std::string& fallback) const {
  const auto found = values_.find(name);
  return found == values_.end() ? fallback : found->second.front();
}

std::vector<std::string> Invocation::all(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

int64_t Invocation::integer(const std::string& name, int64_t fallback, int64_t low, int64_t high) const {
  if (!has(name)) return fallback;
  int64_t value = 0;
  if (parses(text(name), value) && value >= low && value <= high) return value;
  bad_flag(name, text(name),
           high == INT64_MAX ? fmt::format("an integer, {} or more", low)
                             : fmt::format("an integer from {} to {}", low, high));
}

double Invocation::number(const std::string& name, double fallback, double low, double high) const {
  if (!has(name)) return fallback;
  double value = 0;
  if (parses(text(name), value) && value >= low && value <= high) return value;
  bad_flag(name, text(name), fmt::format("a number from {} to {}", low, high));
}

}  // namespace shoal
