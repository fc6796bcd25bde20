#include "hf/config_fields.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace shoal {

using nlohmann::json;

const json* JsonFields::find(const char* key) const {
  const auto at = object_.find(key);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

bool JsonFields::has(const char* key) const {
  return find(key) != nullptr;
}

std::optional<std::string> JsonFields::text(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(key, "the value is not a text", "a text");
  return value->get<std::string>();
}

std::optional<double> JsonFields::number(const char* key, double low, double high) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool good = value->is_number() && value->get<double>() >= low && value->get<double>() <= high;
  if (!good) fail(key, "the value is out of range", fmt::format("a number from {} to {}", low, high));
  return value->get<double>();
}

std::optional<int64_t> JsonFields::integer(const char* key, int64_t low, int64_t high) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool whole = value->is_number_integer() &&
                     !(value->is_number_unsigned() && value->get<uint64_t>() > uint64_t(INT64_MAX));
  if (!whole || value->get<int64_t>() < low || value->get<int64_t>() > high)
    fail(key, "the value is out of range", fmt::format("a whole number from {} to {}", low, high));
  return value->get<int64_t>();
}

std::optional<bool> JsonFields::truth(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail(key, "the value is not true or false", "true or false");
  return value->get<bool>();
}

int64_t JsonFields::needed_integer(const char* key, int64_t low, int64_t high) const {
  const auto value = integer(key, low, high);
  if (!value) {
    fail(key, "the key is missing", fmt::format("a whole number from {} to {}", low, high),
         "the class has a default for it that this model was hardly made with, so none is assumed");
  }
  return *value;
}

void JsonFields::fail(const char* key, const std::string& what, const std::string& allowed,
                      const std::string& hint) const {
  const json* value = find(key);
  std::string text;
  if (value != nullptr) text = value->dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 100) text = text.substr(0, 100) + "...";
  throw UserError(Problem{.what = fmt::format("{}: {}", key, what),
                          .where = file_,
                          .value = text,
                          .allowed = allowed,
                          .hint = hint});
}

}  // namespace shoal
