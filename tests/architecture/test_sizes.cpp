// Files stay short enough to be read, and main and the training loop fit on one page.
#include <doctest/doctest.h>

#include <algorithm>

#include "architecture/rules.h"
#include "architecture/source_tree.h"

namespace shoal::architecture {
namespace {

namespace fs = std::filesystem;
const fs::path root = SHOAL_SOURCE_DIR;

std::string too_long(const std::string& what, int length) {
  return what + " has " + std::to_string(length) + " lines";
}

}  // namespace

TEST_CASE("no file is longer than the limit, and the middle one is short") {
  std::vector<std::string> faults;
  std::vector<int> lengths;
  for (const auto& path : find_files(root, {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake"})) {
    const int length = static_cast<int>(read_lines(path).size());
    if (length > max_file_lines) faults.push_back(too_long(fs::relative(path, root).string(), length));
    if (path.extension() == ".cpp") lengths.push_back(length);
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
  REQUIRE(!lengths.empty());
  std::sort(lengths.begin(), lengths.end());
  const int median = lengths[lengths.size() / 2];
  MESSAGE("median length of a .cpp file: ", median, " lines, of ", lengths.size());
  CHECK(median <= max_median_lines);
}

TEST_CASE("main and the commands are thin") {
  std::vector<std::string> faults;
  for (const auto& file : read_sources(root, {"apps/shoal"})) {
    const std::string name = fs::path(file.path).filename().string();
    const int length = static_cast<int>(file.lines.size());
    if (name.starts_with("cmd_") && length > max_command_lines) faults.push_back(too_long(file.path, length));
    if (name == "main.cpp" && length >= max_main_lines) faults.push_back(too_long(file.path, length));
  }
  CHECK_MESSAGE(faults.empty(), list(faults));
}

TEST_CASE("the training loop is one page") {
  int found = 0;
  for (const auto& file : read_sources(root, {"lib/train"})) {
    if (!file.path.ends_with("/trainer.cpp")) continue;
    const auto longest = longest_function(file);
    CHECK_MESSAGE(longest.length < max_main_lines, file.path, ":", longest.line, ": ",
                  too_long("the function", longest.length));
    ++found;
  }
  CHECK(found == 1);
}

}  // namespace shoal::architecture
