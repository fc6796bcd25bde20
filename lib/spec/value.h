// One key's value: from a node of YAML into a RunSpec, and back to text.
#pragma once

#include <string>
#include <vector>

#include "spec/key_table.h"
#include "spec/yaml_tree.h"

namespace shoal {

// A mistake in a value, and where in the text it is. `where` and `excerpt` are filled in by the reader.
struct ValueProblem {
  int line = 0, column = 0;
  Problem problem;
};

// Sets the key in the spec, or says what is wrong with the value; then the spec is left as it was.
std::vector<ValueProblem> assign(const Key& key, const YamlNode& value, RunSpec& spec);

// The value as YAML in one line; a list in brackets.
std::string value_text(const Key& key, const RunSpec& spec);

// Whether both specs hold the same value.
bool same_value(const Key& key, const RunSpec& a, const RunSpec& b);

// Keys of a map that appear twice, '-' and '_' being the same. `path` is for the message: "data.train[0]."
std::vector<ValueProblem> duplicate_keys(const YamlNode& map, const std::string& path);

// The node as it was written, shortened: for messages.
std::string written(const YamlNode& node);

}  // namespace shoal
