#include "spec/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/text.h"

namespace shoal {
namespace {

size_t count_nodes(const YamlNode& node) {
  size_t count = 1;
  for (const YamlNode& item : node.items) count += count_nodes(item);
  for (const auto& [key, value] : node.entries) count += 1 + count_nodes(value);
  return count;
}

int depth_of(const YamlNode& node) {
  int depth = 0;
  for (const YamlNode& item : node.items) depth = std::max(depth, depth_of(item));
  for (const auto& [key, value] : node.entries) depth = std::max(depth, depth_of(value));
  return depth + 1;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const YamlLimits& limits) : limits_(limits) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish(node_at(mark, YamlNode::Kind::null), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      fail(mark, {.what = "an alias inside the node that it names", .value = "*alias"});
    add_to_count(mark, count_nodes(found->second));
    if (int(open_.size()) + depth_of(found->second) > limits_.depth) fail_depth(mark);
    finish(found->second, YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (tag != "?" && tag != "!") fail_tag(mark, tag);
    YamlNode node = node_at(mark, YamlNode::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!";
    finish(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    start(mark, tag, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    start(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { end(); }

 private:
  // A list or map whose end has not been seen yet. A map holds a key that waits for its value.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;
    YamlNode key;
    std::vector<YamlNode> merged;  // the maps of its merge keys
  };

  [[noreturn]] static void fail(const YAML::Mark& mark, const Problem& problem) {
    throw YamlError{mark.line + 1, mark.column + 1, problem};
  }
  [[noreturn]] static void fail_tag(const YAML::Mark& mark, const std::string& tag) {
    fail(mark, {.what = "YAML tags are not supported", .value = tag, .hint = "leave the tag out"});
  }
  [[noreturn]] void fail_depth(const YAML::Mark& mark) const {
    fail(mark, {.what = "nested too deeply", .allowed = fmt::format("{} levels", limits_.depth)});
  }

  void add_to_count(const YAML::Mark& mark, size_t nodes) {
    nodes_ += nodes;
    if (nodes_ <= limits_.nodes) return;
    fail(mark,
         {.what = "too many values, aliases counted in full", .allowed = fmt::format("{}", limits_.nodes)});
  }

  YamlNode node_at(const YAML::Mark& mark, YamlNode::Kind kind) {
    add_to_count(mark, 1);
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (!tag.empty() && tag != "?" && tag != "!") fail_tag(mark, tag);
    if (int(open_.size()) + 1 > limits_.depth) fail_depth(mark);
    open_.push_back({node_at(mark, kind), anchor, false, {}, {}});
  }

  void end() {
    Open done = std::move(open_.back());
    open_.pop_back();
    for (const YamlNode& base : done.merged) merge(base, done.node);
    finish(std::move(done.node), done.anchor);
  }

  // Keys that the map has itself stay; of several merged maps the first wins (YAML merge key
  // language-independent type).
  static void merge(const YamlNode& base, YamlNode& node) {
    for (const auto& entry : base.entries) {
      const bool there = std::any_of(node.entries.begin(), node.entries.end(), [&](const auto& own) {
        return underscored(own.key.text) == underscored(entry.key.text);
      });
      if (!there) node.entries.push_back(entry);
    }
  }

  void finish(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      if (node.kind != YamlNode::Kind::scalar) {
        throw YamlError{node.line, node.column, {.what = "a key must be a plain word"}};
      }
      parent.key = std::move(node);
      parent.has_key = true;
    } else {
      parent.has_key = false;
      if (parent.key.text == "<<" && !parent.key.quoted) {
        collect_merged(std::move(node), parent.merged);
      } else {
        parent.node.entries.push_back({std::move(parent.key), std::move(node)});
      }
    }
  }

  static void collect_merged(YamlNode node, std::vector<YamlNode>& merged) {
    if (node.kind == YamlNode::Kind::map) {
      merged.push_back(std::move(node));
      return;
    }
    const bool maps = node.kind == YamlNode::Kind::list &&
                      std::all_of(node.items.begin(), node.items.end(),
                                  [](const YamlNode& item) { return item.kind == YamlNode::Kind::map; });
    if (!maps) {
      throw YamlError{
          node.line, node.column, {.what = "'<<' merges maps", .allowed = "*alias or [*alias, ...]"}};
    }
    for (YamlNode& item : node.items) merged.push_back(std::move(item));
  }

  const YamlLimits limits_;
  size_t nodes_ = 0;
  YamlNode root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
};

std::string line_of(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(lines, line);
  return line;
}

// What usually lies behind the parser's terse message.
std::string syntax_hint(const std::string& message, const std::string& line) {
  const size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
  if (line.find('\t') < indent) return "indent with spaces: YAML takes no tabs there";
  if (message == "illegal map value") {
    return "check the indentation here, and that the line before ends with a value or a colon";
  }
  if (message == "end of map flow not found") return "a { is not closed by a }";
  if (message.rfind("end of sequence flow", 0) == 0) return "a [ is not closed by a ]";
  return "";
}

}  // namespace

YamlNode read_yaml(const std::string& text, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    throw YamlError{
        0,
        0,
        {.what = "the file is too large for a run spec", .allowed = fmt::format("{} bytes", limits.bytes)}};
  }
  if (const size_t zero = text.find('\0'); zero != std::string::npos) {
    throw YamlError{0, 0, {.what = fmt::format("this is no text: byte {} is zero", zero)}};
  }
  std::istringstream stream(text);
  try {
    YAML::Parser parser(stream);
    TreeBuilder builder(limits);
    if (!parser.HandleNextDocument(builder)) return {};
    YamlNode root = builder.take_root();
    TreeBuilder second(limits);
    if (parser.HandleNextDocument(second)) {
      throw YamlError{
          second.take_root().line, 1, {.what = "a second YAML document", .allowed = "one document a file"}};
    }
    return root;
  } catch (const YAML::Exception& error) {
    const int line = error.mark.line + 1;
    throw YamlError{
        line,
        error.mark.column + 1,
        {.what = "not valid YAML: " + error.msg, .hint = syntax_hint(error.msg, line_of(text, line))}};
  }
}

}  // namespace shoal
