// Includes run one way, and what CMake links says the same.
#include <doctest/doctest.h>

#include <filesystem>

#include "architecture/rules.h"
#include "architecture/source_tree.h"

namespace shoal::architecture {
namespace {

namespace fs = std::filesystem;
const fs::path root = SHOAL_SOURCE_DIR;

fs::path cmake_lists_of(const std::string& folder) {
  if (folder == "apps") return root / "apps/shoal/CMakeLists.txt";
  if (folder == "data_tools") return root / "data_tools/CMakeLists.txt";
  return root / "lib" / folder / "CMakeLists.txt";
}

// Calls f(file, include, "path:line includes name") for each include of the product, tests left out.
template <typename F>
int for_each_include(F&& f) {
  int count = 0;
  for (const auto& file : read_sources(root, {"lib", "apps", "data_tools"})) {
    for (const auto& include : includes_of(file)) {
      f(file, include, file.path + ":" + std::to_string(include.line) + " includes " + include.name);
      ++count;
    }
  }
  return count;
}

// Quoted includes of folders that may not be reached.
std::vector<std::string> unreachable_includes(const std::map<std::string, std::set<std::string>>& reach) {
  std::vector<std::string> faults;
  for_each_include([&](const SourceFile& file, const Include& include, const std::string& text) {
    const std::string target = folder_of_include(include.name);
    if (!include.quoted || !reach.count(target) || !reach.count(file.folder)) return;
    if (!reach.at(file.folder).count(target)) faults.push_back(text);
  });
  return faults;
}

}  // namespace

TEST_CASE("the table of edges has no cycle and names every folder") {
  std::vector<std::string> faults;
  std::set<std::string> above;
  for (const auto& [folder, targets] : allowed_edges) {
    for (const auto& target : targets) {
      if (!above.count(target)) faults.push_back(folder + " points to " + target + ", which stands below it");
    }
    above.insert(folder);
  }
  for (const auto& entry : fs::directory_iterator(root / "lib")) {
    const std::string folder = entry.path().filename().string();
    if (!above.count(folder)) faults.push_back("lib/" + folder + " is missing in tests/architecture/rules.h");
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
}

TEST_CASE("a folder includes only what lies below it") {
  const auto faults = unreachable_includes(closure(allowed_edges));
  CHECK_MESSAGE(faults.empty(), list(faults));
}

TEST_CASE("a folder links what it includes, and nothing that it may not") {
  std::vector<std::string> faults;
  Edges linked;
  const auto allowed = closure(allowed_edges);
  for (const auto& [folder, targets] : allowed_edges) {
    if (!fs::exists(cmake_lists_of(folder))) continue;
    auto links = linked_folders(cmake_lists_of(folder));
    links.erase(folder);
    for (const auto& link : links) {
      if (!allowed.at(folder).count(link)) {
        faults.push_back(cmake_lists_of(folder).string() + " links shoal_" + link);
      }
    }
    linked.emplace_back(folder, links);
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
  const auto unlinked = unreachable_includes(closure(linked));
  CHECK_MESSAGE(unlinked.empty(), "included and not linked:", list(unlinked));
}

TEST_CASE("a quoted include is a file of ours, named from lib/ or apps/") {
  std::vector<std::string> faults;
  const int count =
      for_each_include([&](const SourceFile& file, const Include& include, const std::string& text) {
        if (!include.quoted || fs::exists(root / "lib" / include.name)) return;
        const bool application = file.folder == "apps" || file.folder == "data_tools";
        const bool generated = include.name == "shoal/build_facts.h";
        const bool ours =
            generated || fs::exists(root / include.name) || fs::exists(root / "apps" / include.name);
        if (!application || !ours) faults.push_back(text);
      });
  CHECK_MESSAGE(faults.empty(), list(faults));
  CHECK(count > 50);
}

TEST_CASE("a library is seen only where it belongs") {
  std::vector<std::string> faults;
  for_each_include([&](const SourceFile& file, const Include& include, const std::string& text) {
    for (const auto& [prefix, folders] : confined_headers) {
      if (!include.quoted && include.name.starts_with(prefix) && !folders.count(file.folder))
        faults.push_back(text);
    }
  });
  CHECK_MESSAGE(faults.empty(), list(faults));
}

TEST_CASE("headers are light and guarded") {
  std::vector<std::string> faults;
  for_each_include([&](const SourceFile& file, const Include& include, const std::string& text) {
    if (!file.path.ends_with(".h")) return;
    for (const auto& heavy : heavy_headers) {
      const bool command_line = file.folder == "apps" && heavy == "CLI/";
      if (include.name.starts_with(heavy) && !command_line) faults.push_back(text);
    }
  });
  for (const auto& file : read_sources(root, {"lib", "apps", "data_tools", "tests"})) {
    if (!file.path.ends_with(".h")) continue;
    bool guarded = false;
    for (const auto& line : file.lines) guarded = guarded || line == "#pragma once";
    if (!guarded) faults.push_back(file.path + " has no #pragma once");
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
}

}  // namespace shoal::architecture
