#include <cstdio>

#include <fmt/format.h>
#include "base/text.h"
#include "shoal/build_info.h"
#include "shoal/commands.h"
#include "spec/key_table.h"
#include "spec/value.h"

namespace shoal {
namespace {

// Text for roff: no line may start with a dot or a quote, and a hyphen is a minus where it is typed.
std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  if (!result.empty() && (result[0] == '.' || result[0] == '\'')) result.insert(0, "\\&");
  return result;
}

void print_command(const std::string& full_name, const Command& command) {
  for (const Command& child : command.commands) {
    if (!child.commands.empty()) {
      print_command(full_name + " " + child.name, child);
      continue;
    }
    fmt::print(".SS \"{}\"\n", escaped(usage_line(full_name + " " + child.name, child)));
    fmt::print("{}.\n", escaped(child.summary));
    if (!child.description.empty()) fmt::print("{}\n", escaped(child.description));
    for (const Argument& argument : child.arguments) {
      fmt::print(".TP\n.I {}\n{}\n", escaped(argument.name), escaped(argument.doc));
    }
    for (const Flag& flag : child.flags) {
      fmt::print(".TP\n.BR {} \" {}\"\n{}", escaped(flag.name), escaped(flag.value), escaped(flag.doc));
      fmt::print("{}\n", flag.choices.empty() ? "" : " (" + escaped(join_choices(flag.choices)) + ")");
    }
    for (const Example& example : child.examples) {
      fmt::print(".PP\n.EX\n{}\n.EE\n{}\n", escaped(example.command), escaped(example.doc));
    }
  }
}

void print_keys() {
  fmt::print(".SH SPEC KEYS\n");
  const RunSpec defaults;
  for (const Key& key : key_table()) {
    const std::string unit = key.unit.empty() ? "" : ", in " + key.unit;
    fmt::print(".TP\n.B {}\n{}\n({}{}; default {})\n", escaped(key.path), escaped(key.doc),
               escaped(key.allowed_text()), escaped(unit), escaped(value_text(key, defaults)));
  }
}

int print_man(const Invocation&) {
  const Command root = shoal_program();
  fmt::print(".TH SHOAL 1 \"\" \"shoal {}\" \"User Commands\"\n", escaped(version()));
  fmt::print(".SH NAME\nshoal \\- {}\n", escaped(root.summary));
  fmt::print(
      ".SH SYNOPSIS\n.B shoal\n.I COMMAND\n[\\fIflags\\fR] [\\fISPEC\\fR...] [\\fIKEY=VALUE\\fR...]\n");
  fmt::print(".SH DESCRIPTION\n{}\n", escaped(root.description));
  fmt::print(".SH COMMANDS\n");
  print_command("shoal", root);
  print_keys();
  fmt::print(".SH EXIT STATUS\n");
  constexpr const char* kCodes[][2] = {
      {"0", "Done."},
      {"1", "Something failed while running."},
      {"2", "The command line, the run spec or an input file is wrong."},
      {"3", "The loss diverged; the last good checkpoint is kept."},
      {"75", "Stopped early with a checkpoint: run the same command again."}};
  for (const auto& [code, meaning] : kCodes) fmt::print(".TP\n.B {}\n{}\n", code, meaning);
  return 0;
}

}  // namespace

Command man_command() {
  return {.name = "man",
          .summary = "print the manual page",
          .description = "The manual in man's own format.",
          .examples = {{"shoal man | man -l -", "Read it."}},
          .run = print_man};
}

}  // namespace shoal
