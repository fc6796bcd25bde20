#include "cluster/machine.h"

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/text.h"
#include "cluster/embedded.h"
#include "spec/yaml_tree.h"

namespace shoal {
namespace {

class MachineReader {
 public:
  MachineReader(Machine& machine, const std::string& where) : machine_(machine), where_(where) {}

  void read(const YamlNode& root) {
    if (root.kind != YamlNode::Kind::map) fail(root, "a machine is a map of keys", "");
    for (const auto& [key, value] : root.entries) read_key(key, value);
    require(machine_.scheduler, "scheduler");
    require(machine_.launch, "launch");
  }

 private:
  using Read = std::function<void(const YamlNode&)>;

  void read_key(const YamlNode& key, const YamlNode& value) {
    const auto into = [this](std::string& text) {
      return [this, &text](const YamlNode& node) { text = scalar(node); };
    };
    const auto into_list = [this](std::vector<std::string>& list) {
      return [this, &list](const YamlNode& node) {
        if (node.kind != YamlNode::Kind::list) fail(node, "a list is expected", "");
        for (const YamlNode& item : node.items) list.push_back(scalar(item));
      };
    };
    const std::map<std::string, Read> keys = {
        {"summary", into(machine_.summary)},
        {"scheduler",
         [this](const YamlNode& node) {
           machine_.scheduler = one_of(node, {"lsf", "slurm"});
         }},
        {"ranks_per_node", [this](const YamlNode& node) { machine_.ranks_per_node = integer(node, 0); }},
        {"cores_per_rank", [this](const YamlNode& node) { machine_.cores_per_rank = integer(node, 1); }},
        {"account_needed",
         [this](const YamlNode& node) {
           machine_.account_needed = one_of(node, {"false", "true"}) == "true";
         }},
        {"queue", into(machine_.queue)},
        {"options", into_list(machine_.options)},
        {"setup", into_list(machine_.setup)},
        {"environment",
         [this](const YamlNode& node) {
           if (node.kind != YamlNode::Kind::map) fail(node, "a map of variables is expected", "");
           for (const auto& [name, text] : node.entries) {
             machine_.environment.emplace_back(scalar(name), scalar(text));
           }
         }},
        {"launch", into(machine_.launch)},
    };
    const auto found = keys.find(key.text);
    if (found != keys.end()) return found->second(value);
    std::vector<std::string> known;
    for (const auto& [name, read] : keys) known.push_back(name);
    fail(key, "unknown key of a machine", join_choices(known));
  }

  std::string scalar(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::scalar) fail(node, "one value is expected", "");
    return node.text;
  }
  std::string one_of(const YamlNode& node, const std::vector<std::string>& choices) {
    for (const std::string& choice : choices) {
      if (scalar(node) == choice) return choice;
    }
    fail(node, "wrong value", join_choices(choices));
  }
  int64_t integer(const YamlNode& node, int64_t low) {
    const std::string text = scalar(node);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= low) return value;
    fail(node, "wrong value", fmt::format("an integer, {} or more", low));
  }
  void require(const std::string& text, const char* key) {
    if (!text.empty()) return;
    throw UserError(Problem{.what = fmt::format("the machine has no {}", key), .where = where_});
  }
  [[noreturn]] void fail(const YamlNode& node, const std::string& what, const std::string& allowed) {
    throw UserError(Problem{.what = what,
                            .where = fmt::format("{}:{}:{}", where_, node.line, node.column),
                            .value = node.text,
                            .allowed = allowed});
  }

  Machine& machine_;
  std::string where_;
};

std::string stem(const std::string& file) {
  return std::filesystem::path(file).stem().string();
}

}  // namespace

Machine parse_machine(const std::string& yaml, const std::string& name, const std::string& where) {
  Machine machine;
  machine.name = name;
  try {
    MachineReader(machine, where).read(read_yaml(yaml));
  } catch (const YamlError& error) {
    Problem problem = error.problem;
    problem.where = fmt::format("{}:{}:{}", where, error.line, error.column);
    throw UserError(problem);
  }
  return machine;
}

Machine load_machine(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".yaml")) {
    std::ifstream file(name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
      throw UserError(Problem{.what = "cannot read the machine's file",
                              .where = name,
                              .value = "",
                              .hint = std::strerror(errno)});
    }
    return parse_machine(text.str(), stem(name), name);
  }
  for (const EmbeddedFile& file : embedded_machines()) {
    if (underscored(stem(file.name)) == underscored(name)) {
      return parse_machine(file.text, stem(file.name), std::string("configs/machines/") + file.name);
    }
  }
  const std::string meant = nearest(name, machine_names());
  throw UserError(Problem{.what = "unknown machine",
                          .where = "--machine",
                          .value = name,
                          .allowed = join_choices(machine_names()) + ", or the path of a YAML file like them",
                          .hint = meant.empty() ? "" : "did you mean " + meant + "?"});
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_machines()) names.push_back(stem(file.name));
  return names;
}

}  // namespace shoal
