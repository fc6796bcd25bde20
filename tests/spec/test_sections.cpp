#include <doctest/doctest.h>

#include <algorithm>

#include "spec/key_table.h"
#include "spec/load.h"

using namespace shoal;

TEST_CASE("every key lies in a section of the section table") {
  for (const Key& key : key_table()) {
    const auto& sections = section_table();
    const bool found =
        key.section().empty() || std::any_of(sections.begin(), sections.end(),
                                             [&](const Section& s) { return s.path == key.section(); });
    CHECK_MESSAGE(found, key.path);
  }
}

TEST_CASE("the printed defaults read back") {
  const LoadedSpec defaults = parse_spec("version: 1\n", "test", {});
  const std::string text = to_yaml(defaults, true);
  CHECK(to_yaml(parse_spec(text, "printed", {}), false) == to_yaml(defaults, false));
}
