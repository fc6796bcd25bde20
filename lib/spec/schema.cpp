// The JSON Schema of a spec, for editors.
#include <nlohmann/json.hpp>

#include "spec/load.h"
#include "spec/presets.h"
#include "spec/value.h"

namespace shoal {
namespace {

using Json = nlohmann::ordered_json;

void add_interval(const Allowed& allowed, Json& schema) {
  const bool whole = schema["type"] == "integer";
  const auto number = [&](double value) { return whole ? Json(int64_t(value)) : Json(value); };
  if (std::isfinite(allowed.low))
    schema[allowed.low_open ? "exclusiveMinimum" : "minimum"] = number(allowed.low);
  if (std::isfinite(allowed.high))
    schema[allowed.high_open ? "exclusiveMaximum" : "maximum"] = number(allowed.high);
  if (!allowed.also) return;
  Json interval = schema;
  schema = Json::object();
  schema["anyOf"] = Json::array({interval, {{"const", number(*allowed.also)}}});
}

Json source_schema() {
  const Json path = {{"type", "string"}, {"minLength", 1}, {"description", "Prefix of a .bin/.idx pair."}};
  Json source = {{"type", "object"}, {"additionalProperties", false}, {"required", {"path"}}};
  source["properties"]["path"] = path;
  source["properties"]["weight"] = {{"type", "number"}, {"exclusiveMinimum", 0}, {"default", 1}};
  source["properties"]["index"] = {{"type", "string"},
                                   {"minLength", 1},
                                   {"description", "Prefix of index .npy files of GPT-NeoX or Megatron-LM."}};
  return {{"anyOf", Json::array({path, source})}};
}

struct TypeSchema {
  const Key& key;

  Json number(const char* type) const {
    Json schema = {{"type", type}};
    add_interval(key.allowed, schema);
    return schema;
  }
  Json operator()(const int64_t*) const { return number("integer"); }
  Json operator()(const uint64_t*) const { return number("integer"); }
  Json operator()(const double*) const { return number("number"); }
  Json operator()(const bool*) const { return {{"type", "boolean"}}; }
  Json operator()(const std::optional<bool>*) const { return {{"enum", {true, false, "auto"}}}; }
  Json operator()(const std::array<double, 2>*) const {
    return {{"type", "array"}, {"items", number("number")}, {"minItems", 2}, {"maxItems", 2}};
  }
  Json operator()(const std::vector<DataSource>*) const {
    const Json one = source_schema();
    return {{"anyOf", Json::array({{{"type", "array"}, {"items", one}}, one})}};
  }
  Json operator()(const std::string*) const {
    if (key.path == "model.preset") {
      Json names = preset_names();
      names.push_back("");
      return {{"enum", names}};
    }
    if (key.allowed.choices.empty()) return {{"type", "string"}};
    Json choices = Json::array();
    for (const std::string& choice : key.allowed.choices) choices.push_back(choice.empty() ? "auto" : choice);
    return {{"enum", choices}};
  }
};

struct DefaultValue {
  const Key& key;
  Json operator()(const std::optional<bool>* value) const {
    return value->has_value() ? Json(**value) : Json("auto");
  }
  Json operator()(const std::string* value) const {
    return value->empty() && !key.allowed.choices.empty() ? Json("auto") : Json(*value);
  }
  Json operator()(const std::vector<DataSource>*) const { return Json::array(); }
  template <typename T>
  Json operator()(const T* value) const {
    return Json(*value);
  }
};

Json section_schema(const std::string& doc) {
  return {{"type", {"object", "null"}},
          {"description", doc},
          {"additionalProperties", false},
          {"properties", Json::object()}};
}

}  // namespace

std::string json_schema() {
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "shoal run spec, version 1"},
               {"type", "object"},
               {"additionalProperties", false},
               {"properties", Json::object()}};
  const auto section_at = [&](const std::string& path) -> Json& {
    Json* at = &root;
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('.', begin), path.size());
      at = &(*at)["properties"][path.substr(begin, end - begin)];
      begin = end + 1;
    }
    return *at;
  };
  for (const Section& section : section_table()) section_at(section.path) = section_schema(section.doc);
  RunSpec defaults;
  for (const Key& key : key_table()) {
    Json schema = std::visit([&](auto* value) { return TypeSchema{key}(value); }, key.field(defaults));
    schema["description"] = key.unit.empty() ? key.doc : key.doc + " Unit: " + key.unit + ".";
    schema["default"] =
        std::visit([&](auto* value) { return DefaultValue{key}(value); }, key.field(defaults));
    section_at(key.section())["properties"][key.name()] = schema;
  }
  return root.dump(2) + "\n";
}

}  // namespace shoal
