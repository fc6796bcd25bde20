// What is written from the key table: the reference page, the JSON schema.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "spec/key_table.h"
#include "spec/load.h"
#include "spec/value.h"

using namespace shoal;

TEST_CASE("docs/reference.md is what the key table says") {
  std::ostringstream text;
  text << std::ifstream(SHOAL_SOURCE_DIR "/docs/reference.md").rdbuf();
  INFO("run: build/apps/shoal/shoal show --reference > docs/reference.md");
  CHECK(text.str() == reference_markdown());
}

TEST_CASE("every key has a section, a line of text, and a default that its own rule allows") {
  RunSpec defaults;
  for (const Key& key : key_table()) {
    CAPTURE(key.path);
    const auto& sections = section_table();
    const bool known =
        key.section().empty() || std::any_of(sections.begin(), sections.end(),
                                             [&](const Section& s) { return s.path == key.section(); });
    CHECK(known);
    CHECK(key.doc.size() > 5);
    CHECK(key.doc.back() == '.');
    CHECK(find_key(key.path) == &key);
    const YamlNode value = read_yaml(value_text(key, defaults));
    RunSpec spec;
    CHECK(assign(key, value, spec).empty());
    CHECK(same_value(key, spec, defaults));
  }
}

TEST_CASE("the JSON schema lists every key with its default and refuses others") {
  const nlohmann::json schema = nlohmann::json::parse(json_schema());
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  const auto& optimizer = schema["properties"]["optimizer"];
  CHECK(optimizer["additionalProperties"] == false);
  CHECK(optimizer["properties"]["lr"]["type"] == "number");
  CHECK(optimizer["properties"]["lr"]["exclusiveMinimum"] == 0);
  CHECK(optimizer["properties"]["lr"]["default"] == 0.001);
  CHECK(schema["properties"]["data"]["properties"]["seed"]["anyOf"][1]["const"] == -1);
  CHECK(schema["properties"]["loss"]["properties"]["goldfish"]["properties"]["k"]["minimum"] == 2);
  CHECK(schema["properties"]["model"]["properties"]["parallel_residual"]["enum"].size() == 3);
  size_t keys = 0;
  for (const Key& key : key_table()) {
    const nlohmann::json* at = &schema;
    std::istringstream parts(key.path);
    for (std::string part; std::getline(parts, part, '.');) at = &at->at("properties").at(part);
    keys += at->contains("default") && at->contains("description");
  }
  CHECK(keys == key_table().size());
}
