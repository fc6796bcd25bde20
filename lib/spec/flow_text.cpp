#include "spec/flow_text.h"

#include "spec/scalar.h"

namespace shoal {

std::string flow_text(const YamlNode& node) {
  std::string text;
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "";
    case YamlNode::Kind::scalar:
      return node.quoted ? quoted_if_needed(node.text) : node.text;
    case YamlNode::Kind::list:
      for (const YamlNode& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(item);
      return "[" + text + "]";
    case YamlNode::Kind::map:
      for (const auto& [name, value] : node.entries) {
        text += (text.empty() ? "" : ", ") + name.text + ": " + flow_text(value);
      }
      return "{" + text + "}";
  }
  return text;
}

}  // namespace shoal
