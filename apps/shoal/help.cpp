#include <algorithm>

#include <fmt/format.h>
#include "base/text.h"
#include "shoal/command.h"

namespace shoal {
namespace {

constexpr int kWidth = 96;

struct Row {
  std::string left, right;
};

std::string table(const std::string& title, const std::vector<Row>& rows) {
  if (rows.empty()) return "";
  size_t left = 0;
  for (const Row& row : rows) left = std::max(left, row.left.size());
  std::string text = "\n" + title + ":\n";
  for (const Row& row : rows) {
    const int indent = int(left) + 4;
    text += fmt::format("  {:<{}}  {}\n", row.left, left, wrapped(row.right, kWidth - indent, indent));
  }
  return text;
}

std::string with_choices(const std::string& doc, const std::vector<std::string>& choices) {
  return choices.empty() ? doc : doc + " (" + join_choices(choices) + ")";
}

}  // namespace

std::string usage_line(const std::string& full_name, const Command& command) {
  std::string text = full_name;
  if (!command.commands.empty() && command.arguments.empty()) text += " COMMAND";
  for (const Flag& flag : command.flags) {
    text += fmt::format(" [{}{}{}]", flag.name, flag.value.empty() ? "" : " ", flag.value);
  }
  for (const Argument& argument : command.arguments) {
    const std::string word = argument.name + (argument.repeated ? "..." : "");
    text += argument.required ? " " + word : " [" + word + "]";
  }
  return text;
}

std::string help_text(const std::string& full_name, const Command& command) {
  std::string text = full_name + ": " + command.summary + "\n";
  if (!command.description.empty()) text += "\n" + wrapped(command.description, kWidth, 0) + "\n";
  text += "\nUsage: " + wrapped(usage_line(full_name, command), kWidth - 9, 9) + "\n";

  std::vector<Row> commands, arguments, flags;
  for (const Command& child : command.commands) commands.push_back({child.name, child.summary});
  for (const Argument& argument : command.arguments) {
    arguments.push_back({argument.name, with_choices(argument.doc, argument.choices)});
  }
  for (const Flag& flag : command.flags) {
    flags.push_back({flag.value.empty() ? flag.name : flag.name + " " + flag.value,
                     with_choices(flag.doc, flag.choices)});
  }
  flags.push_back({"-h, --help", "Print this help."});
  text += table("Commands", commands) + table("Arguments", arguments) + table("Flags", flags);

  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const Example& example : command.examples) {
    text += fmt::format("  {}\n      {}\n", example.command, wrapped(example.doc, kWidth - 6, 6));
  }
  return text;
}

}  // namespace shoal
