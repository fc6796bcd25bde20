// Spec files as text and as trees.
#pragma once

#include <string>

#include "spec/reader.h"
#include "spec/yaml_tree.h"

namespace shoal {

// Adds a file to the reader; what is wrong with the file itself becomes a problem of the spec.
void add_spec_file(SpecReader& reader, const std::string& path);

// The tree of a file; empty if it cannot be read, which add_spec_file reports.
YamlNode read_yaml_file(const std::string& path);

}  // namespace shoal
