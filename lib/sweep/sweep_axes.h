// The section sweep as axes to be multiplied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/yaml_tree.h"

namespace shoal {

struct SweepPoint {
  std::string label;
  std::vector<std::pair<std::string, std::string>> values;  // key, value
};
using SweepAxis = std::vector<SweepPoint>;

struct SweepCooldowns {
  std::vector<int64_t> marks;
  double length = 0.1;  // of the steps before it
};

// Which shapes stay: those whose parameters outside the embeddings lie in it.
struct SweepWindow {
  size_t axis = 0;  // of the shapes
  double low = 0, high = 0;
  std::string where;  // for messages
};

struct SweepAxes {
  std::vector<SweepAxis> axes;
  std::optional<SweepCooldowns> cooldowns;
  std::optional<SweepWindow> window;
  std::string lr_rule;  // gemstones | mup | empty
  double lr_effective = 0;
  int64_t max_runs = 200;
};

// `file` is for messages. Throws UserError.
SweepAxes read_sweep(const YamlNode& section, const std::string& file);

}  // namespace shoal
