#include "spec/presets.h"

#include "base/check.h"
#include "base/text.h"

namespace shoal {
namespace {

std::vector<Preset> read_presets() {
  std::vector<Preset> presets;
  for (const EmbeddedFile& file : embedded_presets()) {
    const YamlNode root = read_yaml(file.text);
    SHOAL_CHECK(root.kind == YamlNode::Kind::map);
    for (const auto& [name, keys] : root.entries) {
      // A name that starts with a dot is a base that others merge ("<<: *base").
      if (name.text[0] != '.') presets.push_back({name.text, keys});
    }
  }
  return presets;
}

}  // namespace

const std::vector<Preset>& all_presets() {
  static const std::vector<Preset> presets = read_presets();
  return presets;
}

const Preset* find_preset(const std::string& name) {
  for (const Preset& preset : all_presets()) {
    if (underscored(preset.name) == underscored(name)) return &preset;
  }
  return nullptr;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : all_presets()) names.push_back(preset.name);
  return names;
}

}  // namespace shoal
