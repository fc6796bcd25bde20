#include "architecture/source_tree.h"

#include <algorithm>
#include <fstream>
#include <regex>

namespace shoal::architecture {
namespace fs = std::filesystem;

namespace {

bool is_skipped(const fs::path& directory) {
  const std::string name = directory.filename().string();
  return name.starts_with(".") || name.starts_with("build") || name == "runs" || name == "__pycache__";
}

std::string folder_of(const fs::path& relative) {
  auto part = relative.begin();
  return *part == "lib" ? (++part)->string() : part->string();
}

}  // namespace

std::string list(const std::vector<std::string>& faults) {
  std::string text;
  for (const auto& fault : faults) text += "\n  " + fault;
  return text;
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> find_files(const fs::path& root, const std::set<std::string>& extensions) {
  std::vector<fs::path> found;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator(); ++it) {
    if (it->is_directory() && is_skipped(it->path())) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file() && extensions.count(it->path().extension().string())) {
      found.push_back(it->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<SourceFile> read_sources(const fs::path& root, const std::vector<std::string>& folders) {
  std::vector<SourceFile> files;
  for (const auto& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& path : find_files(root / folder, {".h", ".cpp", ".cu", ".cuh"})) {
      const fs::path relative = fs::relative(path, root);
      files.push_back({relative.generic_string(), folder_of(relative), read_lines(path)});
    }
  }
  return files;
}

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    std::smatch match;
    if (file.lines[i].find("include") != std::string::npos &&
        std::regex_search(file.lines[i], match, pattern)) {
      includes.push_back({match[2], static_cast<int>(i) + 1, match[1] == "\""});
    }
  }
  return includes;
}

std::string folder_of_include(const std::string& name) {
  const auto slash = name.find('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

std::map<std::string, std::set<std::string>> closure(const Edges& edges) {
  std::map<std::string, std::set<std::string>> reach;
  for (const auto& [folder, targets] : edges) {
    reach[folder] = targets;
    reach[folder].insert(folder);
  }
  for (bool grew = true; grew;) {
    grew = false;
    for (auto& [folder, targets] : reach) {
      const size_t before = targets.size();
      for (const auto& target : std::set<std::string>(targets)) {
        if (auto it = reach.find(target); it != reach.end())
          targets.insert(it->second.begin(), it->second.end());
      }
      grew = grew || targets.size() != before;
    }
  }
  return reach;
}

std::set<std::string> linked_folders(const fs::path& cmake_lists) {
  static const std::regex pattern(R"(\bshoal_([a-z_]+)\b)");
  std::set<std::string> folders;
  for (const auto& line : read_lines(cmake_lists)) {
    const std::string code = line.substr(0, line.find('#'));
    for (auto it = std::sregex_iterator(code.begin(), code.end(), pattern); it != std::sregex_iterator();
         ++it) {
      for (const auto& edge : allowed_edges) {
        if (edge.first == (*it)[1]) folders.insert(edge.first);
      }
    }
  }
  return folders;
}

FunctionLength longest_function(const SourceFile& file) {
  FunctionLength longest;
  int start = -1;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    const bool opens = !line.empty() && line.back() == '{' && !line.starts_with("namespace") &&
                       !line.starts_with("class") && !line.starts_with("struct");
    if (start < 0 && opens && !std::isspace(static_cast<unsigned char>(line[0]))) start = static_cast<int>(i);
    if (start >= 0 && line.starts_with("}")) {
      const int length = static_cast<int>(i) - start + 1;
      if (length > longest.length) longest = {start + 1, length};
      start = -1;
    }
  }
  return longest;
}

}  // namespace shoal::architecture
