#include <doctest/doctest.h>

#include "spec/yaml_tree.h"

using namespace shoal;

namespace {

// The problem that reading ends with, or "" and its place.
YamlError error_of(const std::string& text, const YamlLimits& limits = {}) {
  try {
    read_yaml(text, limits);
  } catch (const YamlError& error) {
    return error;
  }
  return {};
}

}  // namespace

TEST_CASE("a tree keeps kinds, quotes and places") {
  const YamlNode root = read_yaml("a: 1\nb: ['x', ~]\nc:\n  d: {e: f}\n");
  REQUIRE(root.entries.size() == 3);
  CHECK(root.entries[0].value.text == "1");
  CHECK_FALSE(root.entries[0].value.quoted);
  const YamlNode& list = root.entries[1].value;
  REQUIRE(list.items.size() == 2);
  CHECK(list.items[0].quoted);
  CHECK(list.items[0].line == 2);
  CHECK(list.items[0].column == 5);
  CHECK(list.items[1].kind == YamlNode::Kind::null);
  CHECK(root.entries[2].value.entries[0].value.entries[0].key.text == "e");
  CHECK(read_yaml("").kind == YamlNode::Kind::null);
  CHECK(read_yaml("# only a comment\n").kind == YamlNode::Kind::null);
}

TEST_CASE("anchors, aliases and merge keys are resolved") {
  const YamlNode root = read_yaml(
      "base: &base {a: 1, b: 2}\nother: &other {b: 3, c: 4}\n"
      "one: {<<: *base, b: 5}\ntwo: {a-b: 1, <<: [*base, *other]}\nthree: *base\n");
  const auto& one = root.entries[2].value.entries;
  REQUIRE(one.size() == 2);
  CHECK(one[0].key.text == "b");
  CHECK(one[0].value.text == "5");
  CHECK(one[1].key.text == "a");
  const auto& two = root.entries[3].value.entries;
  REQUIRE(two.size() == 4);
  CHECK(two[2].key.text == "b");
  CHECK(two[2].value.text == "2");  // the first of the merged maps wins
  CHECK(two[3].key.text == "c");
  CHECK(root.entries[4].value.entries.size() == 2);
  // A key of the map itself wins, whichever way it is spelt.
  CHECK(read_yaml("{x: &x {a_b: 1}, y: {a-b: 2, <<: *x}}").entries[1].value.entries.size() == 1);
}

TEST_CASE("what is no acceptable YAML is refused with its place") {
  CHECK(error_of("a: [1, 2").line > 0);
  CHECK(error_of("a: b: c\n").problem.what.find("not valid YAML") == 0);
  CHECK(error_of("a: 1\n---\nb: 2\n").problem.what == "a second YAML document");
  CHECK(error_of("a: !!int 3\n").problem.what == "YAML tags are not supported");
  CHECK(error_of("a: *nowhere\n").line == 1);
  CHECK(error_of("a: &a [*a]\n").problem.what == "an alias inside the node that it names");
  CHECK(error_of("{a: 1}: 2\n").problem.what == "a key must be a plain word");
  CHECK(error_of("<<: 3\n").problem.what == "'<<' merges maps");
  CHECK(error_of(std::string("a: \0b", 5)).problem.what == "this is no text: byte 3 is zero");
}

TEST_CASE("syntax errors come with what usually lies behind them") {
  CHECK(error_of("run:\n\tsteps: 3\n").problem.hint == "indent with spaces: YAML takes no tabs there");
  CHECK(error_of("run:\n  steps: 3\n   seed: 3\n").problem.hint.find("check the indentation") == 0);
  CHECK(error_of("run: {steps: 3\nmodel: x\n").problem.hint == "a { is not closed by a }");
  CHECK(error_of("a: [1, 2\n").problem.hint == "a [ is not closed by a ]");
}

TEST_CASE("size, depth and alias bombs are bounded") {
  CHECK(error_of(std::string(2 << 20, 'a')).problem.what == "the file is too large for a run spec");
  CHECK(error_of(std::string(40, '[') + std::string(40, ']')).problem.what == "nested too deeply");
  CHECK(error_of(std::string(100000, '[')).problem.what != "");
  std::string bomb = "a0: &a0 [1, 2]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last + ", " + last + "]\n";
  }
  CHECK(error_of(bomb).problem.what == "too many values, aliases counted in full");
}
