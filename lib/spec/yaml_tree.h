// YAML text as a small tree with places, read through yaml-cpp. It is stricter than yaml-cpp: one document,
// no tags, no alias to an unfinished node, bounded size and depth; and it resolves merge keys ("<<"). Anchors
// and aliases are resolved by copying, so that a tree is never shared or cyclic; the bound on nodes counts
// the copies.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace shoal {

struct YamlEntry;

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text;                // of a scalar
  bool quoted = false;             // the scalar was written in quotes or as a block
  int line = 0, column = 0;        // from 1
  std::vector<YamlNode> items;     // of a list
  std::vector<YamlEntry> entries;  // of a map, in order; a key may be there twice (duplicate_keys in value.h)
};

struct YamlEntry {
  YamlNode key, value;
};

struct YamlLimits {
  size_t bytes = 1 << 20;
  size_t nodes = 20000;
  int depth = 32;
};

// Thrown for text that is no acceptable YAML; line and column count from 1, and are 0 if they are not known.
struct YamlError {
  int line = 0, column = 0;
  Problem problem;
};

YamlNode read_yaml(const std::string& text, const YamlLimits& limits = {});

}  // namespace shoal
