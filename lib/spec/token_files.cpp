#include "spec/token_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

namespace shoal {
namespace {

namespace fs = std::filesystem;

bool all_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text.size() <= 9;
}

// The shards beside a prefix by their number, for each number behind "-of-".
std::map<std::string, std::map<int64_t, std::string>> shards_of(const std::string& prefix) {
  std::map<std::string, std::map<int64_t, std::string>> sets;
  const fs::path path(prefix);
  const std::string start = path.filename().string() + "-", separator = "-of-", end = ".bin";
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, error), none; !error && entry != none; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(start) || !name.ends_with(end) || name.size() < start.size() + end.size()) continue;
    const std::string middle = name.substr(start.size(), name.size() - start.size() - end.size());
    const size_t at = middle.find(separator);
    if (at == std::string::npos) continue;
    const std::string number = middle.substr(0, at), last = middle.substr(at + separator.size());
    if (all_digits(number) && all_digits(last))
      sets[last][std::stoll(number)] = prefix + name.substr(start.size() - 1);
  }
  return sets;
}

}  // namespace

std::vector<std::string> bin_files_of(const std::string& prefix) {
  std::error_code ignored;
  if (fs::is_regular_file(prefix + ".bin", ignored)) return {prefix + ".bin"};
  for (const auto& [last, shards] : shards_of(prefix)) {
    const int64_t named = std::stoll(last), count = int64_t(shards.size());
    const bool is_whole = shards.begin()->first == 0 && shards.rbegin()->first == count - 1 &&
                          (named == count - 1 || named == count);
    if (!is_whole) continue;
    std::vector<std::string> files;
    for (const auto& [number, file] : shards) files.push_back(file);
    return files;
  }
  return {};
}

}  // namespace shoal
