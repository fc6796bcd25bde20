// Published model shapes by name. They are data: configs/presets/*.yaml, put into the program when it is
// built.
#pragma once

#include <string>
#include <vector>

#include "spec/yaml_tree.h"

namespace shoal {

struct Preset {
  std::string name;  // "pythia-70m"
  YamlNode keys;     // a map of keys of the section model
};

const std::vector<Preset>& all_presets();

// The preset of that name, '-' and '_' being the same; null if there is none.
const Preset* find_preset(const std::string& name);
std::vector<std::string> preset_names();

// The files as they are in configs/presets.
struct EmbeddedFile {
  const char* name;
  const char* text;
};
const std::vector<EmbeddedFile>& embedded_presets();

}  // namespace shoal
