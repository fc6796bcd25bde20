#include "shoal/suite_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/units.h"
#include "checkpoint/store.h"

namespace shoal {

namespace fs = std::filesystem;

std::vector<std::string> runs_in(const std::string& folder) {
  std::vector<std::string> runs;
  std::error_code error;
  if (!fs::is_directory(folder, error) || fs::exists(folder + "/resolved.yaml") ||
      fs::exists(folder + "/ckpt")) {
    return runs;
  }
  for (fs::directory_iterator entry(folder, error), none; !error && entry != none; entry.increment(error)) {
    if (fs::is_directory(entry->path() / "ckpt")) runs.push_back(entry->path().string());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

int list_suite(const std::vector<std::string>& runs) {
  std::map<int64_t, std::vector<std::string>> table;  // by step, a cell for each run
  std::vector<int64_t> counts(runs.size()), bytes(runs.size());
  bool damaged = false;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const StoredCheckpoint& c : CheckpointStore(checkpoint_folder_of(runs[i]), {}).list()) {
      auto& row = table[c.step];
      row.resize(runs.size(), "-");
      row[i] = c.problem.empty() ? format_bytes(double(c.bytes)) : "damaged";
      damaged = damaged || !c.problem.empty();
      ++counts[i];
      bytes[i] += c.bytes;
    }
  }
  std::vector<size_t> widths;
  fmt::print("{:<12}", "revision");
  for (const std::string& run : runs) {
    const std::string name = fs::path(run).filename().string();
    widths.push_back(std::max<size_t>(name.size(), 8));
    fmt::print("  {:>{}}", name, widths.back());
  }
  fmt::print("\n");
  for (const auto& [step, row] : table) {
    fmt::print("{:<12}", fmt::format("step{}", step));
    for (size_t i = 0; i < row.size(); ++i) fmt::print("  {:>{}}", row[i], widths[i]);
    fmt::print("\n");
  }
  fmt::print("{:<12}", "checkpoints");
  for (size_t i = 0; i < runs.size(); ++i) fmt::print("  {:>{}}", counts[i], widths[i]);
  fmt::print("\n{:<12}", "bytes");
  for (size_t i = 0; i < runs.size(); ++i) fmt::print("  {:>{}}", format_bytes(double(bytes[i])), widths[i]);
  fmt::print("\n");
  return damaged ? 1 : 0;
}

}  // namespace shoal
