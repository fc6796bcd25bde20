// What every source file and every page of documentation keeps to.
#include <doctest/doctest.h>

#include <cctype>
#include <regex>

#include "architecture/rules.h"
#include "architecture/source_tree.h"

namespace shoal::architecture {
namespace {

namespace fs = std::filesystem;
const fs::path root = SHOAL_SOURCE_DIR;

// A heading's anchor, as the hosting sites make it: lower case, spaces to dashes, punctuation dropped.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) || c == '-' || c == '_' || u >= 0x80) anchor += static_cast<char>(std::tolower(u));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

bool has_anchor(const fs::path& page, const std::string& anchor) {
  for (const auto& line : read_lines(page)) {
    const auto text = line.find_first_not_of('#');
    if (line.starts_with("#") && text != std::string::npos && line[text] == ' ' &&
        anchor_of(line.substr(text + 1)) == anchor) {
      return true;
    }
  }
  return false;
}

// Markdown without what stands in code fences and code spans.
std::vector<std::string> prose_lines(const fs::path& page) {
  static const std::regex code_span("`[^`]*`");
  std::vector<std::string> lines;
  bool fenced = false;
  for (auto& line : read_lines(page)) {
    if (line.starts_with("```")) fenced = !fenced;
    lines.push_back(fenced ? "" : std::regex_replace(line, code_span, ""));
  }
  return lines;
}

}  // namespace

TEST_CASE("source lines have no tabs and no trailing blanks") {
  std::vector<std::string> faults;
  for (const auto& file : read_sources(root, {"lib", "apps", "data_tools", "tests", "bench"})) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const bool clean = line.find('\t') == std::string::npos && (line.empty() || line.back() != ' ');
      if (!clean) faults.push_back(file.path + ":" + std::to_string(i + 1));
    }
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
}

TEST_CASE("comments are for reasons, not for old code or plans") {
  // One blank after the slashes: deeper indented lines are examples of use.
  static const std::regex old_code(
      R"(^\s*// ?(\}|#include\b|return\b.*;|(if|for|while)\s*\(.*\)|[\w:.>-]+\(.*\);|\S.* = .*;|\S.*\)\s*\{)\s*$)");
  static const std::regex plan(R"(\b(TODO|FIXME|XXX|HACK)\b)");
  std::vector<std::string> faults;
  for (const auto& file : read_sources(root, {"lib", "apps", "data_tools", "tests"})) {
    if (file.path == "tests/architecture/test_text.cpp") continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const auto comment = line.find("//");
      if (comment == std::string::npos) continue;
      if (std::regex_search(line, old_code) || std::regex_search(line.substr(comment), plan)) {
        faults.push_back(file.path + ":" + std::to_string(i + 1) + ": " + line);
      }
    }
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
}

TEST_CASE("links between the pages of the documentation lead somewhere") {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  std::vector<std::string> faults;
  for (const auto& page : find_files(root, {".md"})) {
    for (const auto& line : prose_lines(page)) {
      for (auto it = std::sregex_iterator(line.begin(), line.end(), link); it != std::sregex_iterator();
           ++it) {
        const std::string target = (*it)[1];
        if (target.find("://") != std::string::npos || target.starts_with("mailto:")) continue;
        const auto hash = target.find('#');
        const fs::path file = hash == 0 ? page : page.parent_path() / target.substr(0, hash);
        const bool names_heading = hash != std::string::npos && file.extension() == ".md";
        const bool leads = fs::exists(file) && (!names_heading || has_anchor(file, target.substr(hash + 1)));
        if (!leads) faults.push_back(page.string() + " links to " + target);
      }
    }
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
}

TEST_CASE("files of this repository that the documentation names exist") {
  static const std::regex name(
      R"(`((?:lib|apps|tests|scripts|docs|configs|bench|data_tools|cmake)/[A-Za-z0-9_./-]+)`)");
  std::vector<std::string> faults;
  for (const auto& page : find_files(root, {".md"})) {
    for (const auto& line : read_lines(page)) {
      for (auto it = std::sregex_iterator(line.begin(), line.end(), name); it != std::sregex_iterator();
           ++it) {
        const std::string path = (*it)[1];
        if (!fs::exists(root / path)) faults.push_back(page.string() + " names " + path);
      }
    }
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
}

}  // namespace shoal::architecture
