// The table of every key of a run spec. One row says what the key is called, what it may hold, and what it
// means; the reader, the checks, `shoal show`, the JSON schema, the reference page and shell completion all
// follow from it. The default is the one of a default-constructed RunSpec, and the path is the field's own
// name: neither is said twice.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/run_spec.h"

namespace shoal {

// Where a key's value lives in a RunSpec; the alternative is the key's type.
using Field = std::variant<int64_t*, uint64_t*, double*, bool*, std::optional<bool>*, std::string*,
                           std::array<double, 2>*, std::vector<DataSource>*>;

// What a value may be. Numbers: an interval, and perhaps one value outside it with a meaning of its own.
// Texts: a list of choices, empty for any; the choice "" is written as auto.
struct Allowed {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false, high_open = false;
  std::optional<double> also = std::nullopt;
  std::vector<std::string> choices = {};

  bool contains(double value) const;
};

struct Key {
  std::string path;  // "optimizer.lr"
  Field (*field)(RunSpec&);
  Allowed allowed;
  std::string unit;  // "steps", or empty
  std::string doc;   // one line

  std::string type_name() const;     // "integer", "number", "true or false", ...
  std::string allowed_text() const;  // "a number above 0"
  std::string section() const;       // "optimizer", "loss.goldfish", or "" for a top-level key
  std::string name() const;          // "lr"
};

struct Section {
  std::string path;
  std::string doc;
};

const std::vector<Key>& key_table();
const std::vector<Section>& section_table();  // in the order of a spec
const Key* find_key(const std::string& path);
std::vector<std::string> keys_of(const std::string& section);  // full paths, of sections within it as well

// The key that someone who wrote this path probably meant: a near name in the section, the same name
// elsewhere, the name that another program gives it, or a near name elsewhere. Empty if nothing is near.
std::string likely_key(const std::string& path);

}  // namespace shoal
