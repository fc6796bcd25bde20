// Typed reading of a JSON object, with the file and the key in every message.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace shoal {

class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string file) : object_(object), file_(std::move(file)) {}

  bool has(const char* key) const;  // and is not null
  std::optional<std::string> text(const char* key) const;
  std::optional<double> number(const char* key, double low, double high) const;
  std::optional<int64_t> integer(const char* key, int64_t low, int64_t high) const;
  std::optional<bool> truth(const char* key) const;
  int64_t needed_integer(const char* key, int64_t low, int64_t high) const;

  const nlohmann::json& object() const { return object_; }
  const std::string& file() const { return file_; }
  [[noreturn]] void fail(const char* key, const std::string& what, const std::string& allowed,
                         const std::string& hint = "") const;

 private:
  const nlohmann::json* find(const char* key) const;

  const nlohmann::json& object_;
  std::string file_;
};

}  // namespace shoal
