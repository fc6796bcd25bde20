// The merged values of GPT-NeoX files by name, each with its place, and which of them have been used.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "spec/yaml_tree.h"

namespace shoal {

struct NeoxValue {
  std::string name;  // as written: "num-layers"
  YamlNode node;
  std::string where;  // "12B.yml:7:3"
};

class NeoxValues {
 public:
  // Throws UserError for a file that cannot be read or is no map of names.
  void add(const std::string& file);

  // Marks the value as used; null if it is not there.
  const NeoxValue* take(const std::string& name);
  std::optional<int64_t> integer(const std::string& name);
  std::optional<double> number(const std::string& name);
  std::optional<bool> truth(const std::string& name);
  // What has not been taken: "name (place)".
  std::vector<std::string> unused() const;

 private:
  std::map<std::string, NeoxValue> values_;  // by the name with underscores
  std::set<std::string> used_;
};

// The entry of a map, '-' and '_' being the same; null if it is none.
const YamlNode* entry_of(const YamlNode& map, const std::string& name);

[[noreturn]] void bad_neox_value(const NeoxValue& value, const std::string& what, const std::string& allowed,
                                 const std::string& hint = "");

}  // namespace shoal
