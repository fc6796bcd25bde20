#include "spec/neox_values.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "spec/scalar.h"
#include "spec/value.h"

namespace shoal {
namespace {

std::string without_comment(const std::string& line) {
  bool quoted = false;
  size_t end = line.size();
  for (size_t i = 0; i < line.size() && end == line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) end = i;
  }
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos || first >= end) return "";
  return line.substr(first, line.find_last_not_of(" \t\r", end - 1) + 1 - first);
}

// The files are maps in braces, where each entry but the last needs a comma behind it. YAML parsers complain
// somewhere below a missing one.
std::string missing_comma(const std::string& text) {
  std::istringstream lines(text);
  std::string before;
  int number = 0, before_number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string content = without_comment(line);
    if (content.empty()) continue;
    const bool begins_entry = content.front() == '"' && content.find("\":") != std::string::npos;
    if (begins_entry && !before.empty() && std::string(",{[").find(before.back()) == std::string::npos)
      return fmt::format("line {} ends without a comma: write {},", before_number, before);
    before = content;
    before_number = number;
  }
  return "";
}

YamlNode read_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  if (!(content << stream.rdbuf()))
    throw UserError(Problem{.what = "the file cannot be read", .where = file, .hint = std::strerror(errno)});
  try {
    return read_yaml(content.str());
  } catch (const YamlError& error) {
    Problem problem = error.problem;
    problem.where = fmt::format("{}:{}:{}", file, error.line, error.column);
    if (const std::string hint = missing_comma(content.str()); !hint.empty()) problem.hint = hint;
    throw UserError(problem);
  }
}

template <typename T>
std::optional<T> parsed(const NeoxValue* value, std::optional<T> (*parse)(const std::string&),
                        const std::string& allowed) {
  if (value == nullptr) return std::nullopt;
  const std::optional<T> result = parse(value->node.text);
  if (!result) bad_neox_value(*value, "wrong value", allowed);
  return result;
}

}  // namespace

void NeoxValues::add(const std::string& file) {
  const YamlNode root = read_file(file);
  if (root.kind != YamlNode::Kind::map)
    throw UserError(Problem{.what = "not a configuration of GPT-NeoX", .where = file, .allowed = "a map"});
  for (const auto& [key, value] : root.entries)
    values_[underscored(key.text)] = {key.text, value, fmt::format("{}:{}", file, key.line)};
}

const NeoxValue* NeoxValues::take(const std::string& name) {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.node.kind == YamlNode::Kind::null) return nullptr;
  used_.insert(name);
  return &found->second;
}

std::optional<int64_t> NeoxValues::integer(const std::string& name) {
  return parsed(take(name), parse_integer, "an integer");
}
std::optional<double> NeoxValues::number(const std::string& name) {
  return parsed(take(name), parse_number, "a number");
}
std::optional<bool> NeoxValues::truth(const std::string& name) {
  return parsed(take(name), parse_truth, "true or false");
}

std::vector<std::string> NeoxValues::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) {
    if (used_.count(name) == 0) names.push_back(fmt::format("{} ({})", value.name, value.where));
  }
  return names;
}

const YamlNode* entry_of(const YamlNode& map, const std::string& name) {
  for (const auto& [key, value] : map.entries) {
    if (underscored(key.text) == name) return &value;
  }
  return nullptr;
}

void bad_neox_value(const NeoxValue& value, const std::string& what, const std::string& allowed,
                    const std::string& hint) {
  throw UserError(Problem{.what = fmt::format("{}: {}", value.name, what),
                          .where = value.where,
                          .value = written(value.node),
                          .allowed = allowed,
                          .hint = hint});
}

}  // namespace shoal
