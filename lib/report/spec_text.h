// A resolved spec as it is stored in a run folder, looked at as text: any version of it can be shown.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shoal::report {

struct SpecLine {
  std::string key;     // "optimizer.lr"; empty for a line without a value of its own
  std::string text;    // the line without its comment
  std::string value;   // "0.001"
  std::string origin;  // the comment: "default", "configs/demo.yaml:12:7", "override"; may be empty
};

// Block mappings with scalar or flow values, list items kept as values of "key[i]"; enough for what shoal
// writes.
std::vector<SpecLine> spec_lines(const std::string& yaml);

// The keys whose values differ between the specs, each with one value a spec ("" where a spec lacks the key).
std::vector<std::pair<std::string, std::vector<std::string>>> differing_keys(
    const std::vector<std::string>& specs);

}  // namespace shoal::report
