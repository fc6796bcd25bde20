#include "shoal/completion.h"

#include <algorithm>

#include "spec/presets.h"

namespace shoal {
namespace {

void collect(const std::string& name, const Command& command,
             std::vector<std::pair<std::string, const Command*>>& all) {
  all.emplace_back(name, &command);
  for (const Command& child : command.commands) collect(name + " " + child.name, child, all);
}

}  // namespace

std::vector<std::pair<std::string, const Command*>> all_commands(const Command& root) {
  std::vector<std::pair<std::string, const Command*>> all;
  collect(root.name, root, all);
  return all;
}

std::vector<std::string> value_words(const Key& key) {
  if (key.path == "model.preset") return preset_names();
  const std::string type = key.type_name();
  if (type == "true or false") return {"true", "false"};
  if (type == "true, false or auto") return {"true", "false", "auto"};
  std::vector<std::string> words = key.allowed.choices;
  std::replace(words.begin(), words.end(), std::string(), std::string("auto"));
  return words;
}

bool takes(const Command& command, Completes what) {
  return std::any_of(command.arguments.begin(), command.arguments.end(),
                     [&](const Argument& argument) { return argument.completes == what; });
}

}  // namespace shoal
