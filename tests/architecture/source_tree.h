// The project's own source files, as the architecture tests look at them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "architecture/rules.h"

namespace shoal::architecture {

struct SourceFile {
  std::string path;    // from the root of the repository
  std::string folder;  // "base" for lib/base/..., "apps", "data_tools", "tests", "bench"
  std::vector<std::string> lines;
};

struct Include {
  std::string name;
  int line;
  bool quoted;  // "..." and not <...>
};

// Every .h, .cpp, .cu and .cuh below the given folders of the root, in path order.
std::vector<SourceFile> read_sources(const std::filesystem::path& root,
                                     const std::vector<std::string>& folders);

// Every hand-written file with one of these endings, without build folders and hidden ones.
std::vector<std::filesystem::path> find_files(const std::filesystem::path& root,
                                              const std::set<std::string>& extensions);

// The faults of a rule, one a line, for the message of a failed check.
std::string list(const std::vector<std::string>& faults);

std::vector<std::string> read_lines(const std::filesystem::path& path);

std::vector<Include> includes_of(const SourceFile& file);

// "ops" for "ops/ops.h", empty for a name without a folder.
std::string folder_of_include(const std::string& name);

// Folder -> every folder that can be reached over the edges, itself included.
std::map<std::string, std::set<std::string>> closure(const Edges& edges);

// The shoal_* libraries that a CMakeLists.txt names after DEPS (or in target_link_libraries), without the
// prefix.
std::set<std::string> linked_folders(const std::filesystem::path& cmake_lists);

// The number of lines of the longest function body and the line where it starts. Functions begin at column 0
// with a line ending in "{" and end with "}" at column 0, as clang-format leaves them.
struct FunctionLength {
  int line = 0;
  int length = 0;
};
FunctionLength longest_function(const SourceFile& file);

}  // namespace shoal::architecture
