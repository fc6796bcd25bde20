#include "data_tools/input_files.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"

namespace shoal {

namespace fs = std::filesystem;

std::vector<InputFile> find_input_files(const std::vector<std::string>& paths) {
  std::vector<InputFile> files;
  std::error_code error;
  for (const std::string& path : paths) {
    if (path == "-") {
      files.push_back({path, 0});
    } else if (fs::is_directory(path, error)) {
      std::vector<InputFile> below;
      for (fs::recursive_directory_iterator at(path), end; at != end; ++at) {
        const bool is_hidden = at->path().filename().string().starts_with(".");
        if (is_hidden && at->is_directory()) at.disable_recursion_pending();
        if (!is_hidden && at->is_regular_file())
          below.push_back({at->path().string(), int64_t(at->file_size())});
      }
      if (below.empty()) throw UserError(Problem{"is a folder without files", path, "", "", ""});
      std::sort(below.begin(), below.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
      files.insert(files.end(), below.begin(), below.end());
    } else if (fs::exists(path, error)) {
      files.push_back({path, fs::is_regular_file(path, error) ? int64_t(fs::file_size(path)) : 0});
    } else {
      throw UserError(Problem{"does not exist", path, "", "a file, a folder, or - for standard input", ""});
    }
  }
  return files;
}

}  // namespace shoal
