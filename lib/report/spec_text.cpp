#include "report/spec_text.h"

#include <map>
#include <sstream>

namespace shoal::report {

namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Where the comment starts: a # after a blank (or at the start) and outside quotes.
size_t comment_start(const std::string& line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quote) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#' && (i == 0 || line[i - 1] == ' ')) {
      return i;
    }
  }
  return std::string::npos;
}

struct Level {
  size_t indent;
  std::string key;
  int items = 0;
};

}  // namespace

std::vector<SpecLine> spec_lines(const std::string& yaml) {
  std::vector<SpecLine> lines;
  std::vector<Level> path;
  std::istringstream in(yaml);
  for (std::string line; std::getline(in, line);) {
    SpecLine result;
    const size_t comment = comment_start(line);
    if (comment != std::string::npos) result.origin = trimmed(line.substr(comment + 1));
    result.text = line.substr(0, comment);
    result.text.erase(result.text.find_last_not_of(' ') + 1);
    const size_t indent = result.text.find_first_not_of(' ');
    if (indent != std::string::npos) {
      const bool item = result.text.compare(indent, 2, "- ") == 0;
      while (!path.empty() && path.back().indent >= indent + (item ? 1 : 0)) path.pop_back();
      const std::string parent = path.empty() ? "" : path.back().key;
      const size_t colon = result.text.find(':', indent);
      if (item) {
        result.key = parent + "[" + std::to_string(path.empty() ? 0 : path.back().items++) + "]";
        result.value = result.text.substr(indent + 2);
      } else if (colon != std::string::npos) {
        result.key = (parent.empty() ? "" : parent + ".") + result.text.substr(indent, colon - indent);
        result.value = trimmed(result.text.substr(colon + 1));
        path.push_back({indent, result.key});
        if (result.value.empty()) result.key.clear();
      }
    }
    lines.push_back(std::move(result));
  }
  return lines;
}

std::vector<std::pair<std::string, std::vector<std::string>>> differing_keys(
    const std::vector<std::string>& specs) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> values;
  for (size_t i = 0; i < specs.size(); ++i) {
    for (const auto& line : spec_lines(specs[i])) {
      if (line.key.empty()) continue;
      auto [entry, is_new] = values.try_emplace(line.key, specs.size());
      if (is_new) order.push_back(line.key);
      entry->second[i] = line.value;
    }
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> differing;
  for (const auto& key : order) {
    for (const auto& value : values[key]) {
      if (value == values[key].front()) continue;
      differing.emplace_back(key, values[key]);
      break;
    }
  }
  return differing;
}

}  // namespace shoal::report
