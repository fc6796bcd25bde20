// A node of YAML in one line, as an override takes it: "[{path: corpus, weight: 2}]".
#pragma once

#include <string>

#include "spec/yaml_tree.h"

namespace shoal {

std::string flow_text(const YamlNode& node);

}  // namespace shoal
