// A spec as YAML.
#include <fmt/format.h>

#include <algorithm>

#include "spec/load.h"
#include "spec/value.h"

namespace shoal {
namespace {

struct Line {
  std::string text, origin;
};

std::string indent_of(const std::string& path) {
  return std::string(2 * size_t(std::count(path.begin(), path.end(), '.')), ' ');
}

// "loss:" and "  goldfish:" before the first key of loss.goldfish.
void open_sections(const std::string& from, const std::string& to, std::vector<Line>& lines) {
  for (size_t at = 0; at < to.size();) {
    const size_t end = std::min(to.find('.', at), to.size());
    const std::string path = to.substr(0, end);
    const bool is_open = from == path || from.rfind(path + ".", 0) == 0;
    if (!is_open) lines.push_back({indent_of(path) + to.substr(at, end - at) + ":", ""});
    at = end + 1;
  }
}

}  // namespace

std::string to_yaml(const LoadedSpec& loaded, bool with_origins) {
  std::vector<Line> lines;
  std::string section;
  for (const Key& key : key_table()) {
    open_sections(section, key.section(), lines);
    section = key.section();
    const auto origin = loaded.origins.find(key.path);
    lines.push_back({fmt::format("{}{}: {}", indent_of(key.path), key.name(), value_text(key, loaded.spec)),
                     origin == loaded.origins.end() ? "default" : origin->second.text});
  }
  constexpr size_t kWidestValue = 48;
  size_t width = 0;
  for (const Line& line : lines) {
    if (line.text.size() <= kWidestValue) width = std::max(width, line.text.size());
  }
  std::string yaml;
  for (const Line& line : lines) {
    const bool comment = with_origins && !line.origin.empty();
    yaml += comment ? fmt::format("{:<{}}  # {}\n", line.text, width, line.origin) : line.text + "\n";
  }
  return yaml;
}

}  // namespace shoal
