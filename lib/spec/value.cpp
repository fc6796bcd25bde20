#include "spec/value.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "spec/scalar.h"

namespace shoal {
namespace {

using Kind = YamlNode::Kind;
using Problems = std::vector<ValueProblem>;

Problems wrong(const YamlNode& node, const std::string& what, const std::string& allowed,
               const std::string& hint = "") {
  return {{node.line, node.column, {.what = what, .value = written(node), .allowed = allowed, .hint = hint}}};
}

// What a number that cannot be read probably is.
std::string number_hint(const YamlNode& node, bool integer) {
  if (node.quoted && parse_number(node.text)) return "leave the quotes out: in quotes it is a text";
  if (node.text.find(',') != std::string::npos)
    return "the decimal sign is a point, and digits may be grouped with _";
  if (node.text.size() > 1 && node.text[0] == '0')
    return "hexadecimal numbers and leading zeros are not read";
  if (integer && parse_number(node.text)) return "it must be whole";
  return "";
}

struct Assigner {
  const Key& key;
  const YamlNode& node;

  Problems bad(const std::string& what, const std::string& hint = "") const {
    return wrong(node, key.path + " " + what, key.allowed_text(), hint);
  }

  Problems bad_number(bool integer) const {
    return bad(integer ? "must be an integer" : "must be a number", number_hint(node, integer));
  }

  template <typename T>
  Problems number(std::optional<T> value, T& into, bool integer) const {
    if (node.quoted || !value) return bad_number(integer);
    if (!key.allowed.contains(double(*value))) return bad("is out of range");
    into = *value;
    return {};
  }

  Problems operator()(int64_t* into) const { return number(parse_integer(node.text), *into, true); }
  Problems operator()(uint64_t* into) const { return number(parse_unsigned(node.text), *into, true); }
  Problems operator()(double* into) const { return number(parse_number(node.text), *into, false); }

  Problems operator()(bool* into) const {
    const auto value = parse_truth(node.text);
    if (node.quoted || !value) return bad("must be true or false");
    *into = *value;
    return {};
  }

  Problems operator()(std::optional<bool>* into) const {
    const auto value = parse_truth(node.text);
    if (node.text != "auto" && (node.quoted || !value)) return bad("must be true, false or auto");
    *into = value;
    return {};
  }

  Problems operator()(std::string* into) const {
    if (!is_printable_utf8(node.text)) return bad("holds characters that cannot be printed");
    if (key.allowed.choices.empty()) {
      *into = node.text;
      return {};
    }
    for (const std::string& choice : key.allowed.choices) {
      if (underscored(node.text) != (choice.empty() ? "auto" : underscored(choice))) continue;
      *into = choice;
      return {};
    }
    const std::string near = nearest(node.text, key.allowed.choices);
    return bad("does not know this choice", near.empty() ? "" : "did you mean " + near + "?");
  }

  Problems operator()(std::array<double, 2>* into) const {
    if (node.items.size() != 2) return bad("must be a list of two numbers", "for example [0.9, 0.95]");
    std::array<double, 2> values{};
    for (size_t i = 0; i < 2; ++i) {
      const YamlNode& item = node.items[i];
      const auto value = parse_number(item.text);
      if (item.kind != Kind::scalar || item.quoted || !value) {
        return wrong(item, fmt::format("{}[{}] must be a number", key.path, i), key.allowed_text(),
                     number_hint(item, false));
      }
      if (!key.allowed.contains(*value)) {
        return wrong(item, fmt::format("{}[{}] is out of range", key.path, i), key.allowed_text());
      }
      values[i] = *value;
    }
    *into = values;
    return {};
  }

  Problems source(const YamlNode& item, const std::string& path, DataSource& into) const {
    if (item.kind == Kind::scalar && !item.text.empty() && is_printable_utf8(item.text)) {
      into.path = item.text;
      return {};
    }
    if (item.kind != Kind::map)
      return wrong(item, path + " must be {path: PREFIX, weight: NUMBER}", key.allowed_text());
    Problems problems = duplicate_keys(item, path + ".");
    for (const auto& [name, value] : item.entries) {
      if (name.text == "path" || name.text == "index") {
        if (value.kind == Kind::scalar && !value.text.empty() && is_printable_utf8(value.text)) {
          (name.text == "path" ? into.path : into.index) = value.text;
        } else {
          const char* allowed =
              name.text == "path" ? "the prefix of a .bin/.idx pair" : "the prefix of index .npy files";
          problems.push_back(
              wrong(value, fmt::format("{}.{} must be a text", path, name.text), allowed).front());
        }
      } else if (name.text == "weight") {
        const auto weight = parse_number(value.text);
        if (value.kind == Kind::scalar && !value.quoted && weight && *weight > 0) {
          into.weight = *weight;
        } else {
          problems.push_back(wrong(value, path + ".weight must be a number", "a number above 0").front());
        }
      } else {
        const std::string near = nearest(name.text, {"path", "weight", "index"});
        const std::string hint = near.empty() ? "" : "did you mean " + near + "?";
        problems.push_back({name.line,
                            name.column,
                            {.what = fmt::format("unknown key {}.{}", path, name.text),
                             .value = written(value),
                             .allowed = "the keys of a source: path, weight, index",
                             .hint = hint}});
      }
    }
    if (into.path.empty() && problems.empty()) {
      return wrong(item, path + " has no path", "{path: PREFIX, weight: NUMBER}");
    }
    return problems;
  }

  Problems operator()(std::vector<DataSource>* into) const {
    std::vector<DataSource> sources(node.kind == Kind::list ? node.items.size() : 1);
    Problems problems;
    for (size_t i = 0; i < sources.size(); ++i) {
      const YamlNode& item = node.kind == Kind::list ? node.items[i] : node;
      for (auto& problem : source(item, fmt::format("{}[{}]", key.path, i), sources[i])) {
        problems.push_back(std::move(problem));
      }
    }
    if (problems.empty()) *into = std::move(sources);
    return problems;
  }
};

struct Printer {
  const Key& key;

  std::string operator()(const int64_t* value) const { return fmt::format("{}", *value); }
  std::string operator()(const uint64_t* value) const { return fmt::format("{}", *value); }
  std::string operator()(const double* value) const { return format_number(*value); }
  std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(const std::optional<bool>* value) const {
    return !value->has_value() ? "auto" : **value ? "true" : "false";
  }
  std::string operator()(const std::string* value) const {
    if (value->empty() && !key.allowed.choices.empty()) return "auto";
    return quoted_if_needed(*value);
  }
  std::string operator()(const std::array<double, 2>* value) const {
    return fmt::format("[{}, {}]", format_number((*value)[0]), format_number((*value)[1]));
  }
  std::string operator()(const std::vector<DataSource>* value) const {
    std::string text;
    for (const DataSource& source : *value) {
      const std::string index = source.index.empty() ? "" : ", index: " + quoted_if_needed(source.index);
      text += fmt::format("{}{{path: {}, weight: {}{}}}", text.empty() ? "" : ", ",
                          quoted_if_needed(source.path), format_number(source.weight), index);
    }
    return "[" + text + "]";
  }
};

}  // namespace

std::vector<ValueProblem> assign(const Key& key, const YamlNode& value, RunSpec& spec) {
  const Field field = key.field(spec);
  const bool takes_list = std::holds_alternative<std::array<double, 2>*>(field) ||
                          std::holds_alternative<std::vector<DataSource>*>(field);
  if (value.kind == Kind::null) {
    return wrong(value, key.path + " has no value", key.allowed_text(),
                 "leave the key out to get its default");
  }
  if (value.kind != Kind::scalar && !takes_list) {
    return wrong(
        value,
        fmt::format("{} must be one value, not a {}", key.path, value.kind == Kind::map ? "map" : "list"),
        key.allowed_text());
  }
  return std::visit(Assigner{key, value}, field);
}

std::string value_text(const Key& key, const RunSpec& spec) {
  RunSpec copy = spec;
  return std::visit([&](auto* value) { return Printer{key}(value); }, key.field(copy));
}

bool same_value(const Key& key, const RunSpec& a, const RunSpec& b) {
  return value_text(key, a) == value_text(key, b);
}

std::vector<ValueProblem> duplicate_keys(const YamlNode& map, const std::string& path) {
  std::vector<ValueProblem> problems;
  std::map<std::string, int> first_line;
  for (const auto& [name, value] : map.entries) {
    const auto [found, is_new] = first_line.emplace(underscored(name.text), name.line);
    if (is_new) continue;
    problems.push_back(
        {name.line,
         name.column,
         {.what = fmt::format("{}{} is given twice", path, name.text),
          .value = written(value),
          .allowed =
              fmt::format("each key once, - and _ being the same; the first is on line {}", found->second)}});
  }
  return problems;
}

std::string written(const YamlNode& node) {
  constexpr size_t kLongest = 60;
  std::string text;
  switch (node.kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      text = node.quoted ? "\"" + node.text + "\"" : node.text;
      break;
    case Kind::list:
      text = fmt::format("a list of {}", node.items.size());
      break;
    case Kind::map:
      text = fmt::format("a map of {}", node.entries.size());
      break;
  }
  for (char& c : text) {
    if (uint8_t(c) < 0x20 || c == 0x7f) c = '?';
  }
  if (text.size() > kLongest) text = text.substr(0, kLongest - 3) + "...";
  return text;
}

}  // namespace shoal
