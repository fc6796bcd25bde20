// The command line, read by CLI11 from the command table.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "shoal/build_info.h"
#include "shoal/command.h"

namespace shoal {
namespace {

// One command with CLI11's view of it. CLI11 keeps pointers into this, so it must not move.
struct Bound {
  const Command* command = nullptr;
  std::string full_name;
  CLI::App* app = nullptr;
  bool help = false;
  std::vector<std::vector<std::string>> flag_values;
  std::vector<std::string> words;
  std::vector<std::unique_ptr<Bound>> children;
};

void attach(Bound& bound, const Command& command, const std::string& full_name, CLI::App* app) {
  bound.command = &command;
  bound.full_name = full_name;
  bound.app = app;
  app->set_help_flag();
  app->add_flag("-h,--help", bound.help);
  app->allow_extras();
  app->prefix_command(false);
  app->require_subcommand(0, 1);  // behind a command, a word such as "data" is a name, no other command
  bound.flag_values.resize(command.flags.size());
  for (size_t i = 0; i < command.flags.size(); ++i) {
    const Flag& flag = command.flags[i];
    auto& values = bound.flag_values[i];
    if (flag.value.empty()) {
      app->add_flag_function(flag.name, [&values](int64_t) { values.assign(1, "true"); });
    } else {
      app->add_option(flag.name, values)->allow_extra_args(false)->take_all();
    }
  }
  if (command.commands.empty() || !command.arguments.empty()) app->add_option("words", bound.words);
  for (const Command& child : command.commands) {
    bound.children.push_back(std::make_unique<Bound>());
    attach(*bound.children.back(), child, full_name + " " + child.name, app->add_subcommand(child.name));
  }
}

[[noreturn]] void usage_error(const Bound& bound, const std::string& what, const std::string& hint = "") {
  std::string text = what;
  if (!hint.empty()) text += "\n  hint: " + hint;
  if (bound.command->commands.empty()) text += "\n  usage: " + usage_line(bound.full_name, *bound.command);
  throw UserError(text + "\n  help: " + bound.full_name + " --help");
}

std::string meant(const std::string& word, const std::vector<std::string>& known) {
  const std::string name = nearest(word, known);
  return name.empty() ? "" : "did you mean " + name + "?";
}

[[noreturn]] void unknown_word(const Bound& bound, const std::string& word) {
  std::vector<std::string> known;
  if (word.size() > 1 && word[0] == '-') {
    for (const Flag& flag : bound.command->flags) known.push_back(flag.name);
    known.push_back("--help");
    usage_error(bound, "unknown flag " + word.substr(0, word.find('=')),
                meant(word.substr(0, word.find('=')), known));
  }
  for (const Command& child : bound.command->commands) known.push_back(child.name);
  std::string hint = meant(word, known);
  if (hint.empty() && !known.empty()) hint = "the commands are " + join_choices(known, " and ");
  usage_error(bound, fmt::format("unknown command '{}'", word), hint);
}

// KEY=VALUE, where the key looks like a path of the spec and not like a file name.
bool is_override(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  return word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
         equals;
}

void check_choice(const Bound& bound, const std::string& name, const std::vector<std::string>& choices,
                  const std::string& value) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  usage_error(bound, fmt::format("{} cannot be '{}'", name, value), "one of " + join_choices(choices));
}

Invocation distribute(const Bound& bound) {
  const Command& command = *bound.command;
  Invocation given;
  for (size_t i = 0; i < command.flags.size(); ++i) {
    const Flag& flag = command.flags[i];
    const auto& values = bound.flag_values[i];
    if (values.size() > 1 && !flag.repeated) usage_error(bound, flag.name + " is given twice");
    for (const std::string& value : values) {
      if (!flag.choices.empty() &&
          std::find(flag.choices.begin(), flag.choices.end(), value) == flag.choices.end()) {
        usage_error(bound, fmt::format("{} cannot be '{}'", flag.name, value),
                    "one of " + join_choices(flag.choices));
      }
      given.add(flag.name, value);
    }
  }

  std::vector<std::string> words = bound.words;
  size_t required = 0;
  for (const Argument& argument : command.arguments) {
    required += argument.required;
    if (argument.completes != Completes::override_key) continue;
    const auto rest =
        std::stable_partition(words.begin(), words.end(), [](const auto& w) { return !is_override(w); });
    std::for_each(rest, words.end(), [&](const std::string& word) { given.add(argument.name, word); });
    words.erase(rest, words.end());
  }
  size_t next = 0;
  for (const Argument& argument : command.arguments) {
    if (argument.completes == Completes::override_key) continue;
    required -= argument.required;
    if (next >= words.size() && argument.required) usage_error(bound, "missing " + argument.name);
    const size_t left = words.size() - next;
    size_t take = std::min<size_t>(left, 1);
    if (argument.repeated && left > required) take = left - required;
    if (!argument.required && left <= required) take = 0;
    for (; take > 0; --take) {
      check_choice(bound, argument.name, argument.choices, words[next]);
      given.add(argument.name, words[next++]);
    }
  }
  if (next < words.size()) usage_error(bound, fmt::format("unexpected argument '{}'", words[next]));
  return given;
}

const Bound& selected(const Bound& bound) {
  for (const auto& child : bound.children) {
    if (child->app->parsed()) return selected(*child);
  }
  return bound;
}

}  // namespace

int run_command_line(const Command& root, const std::vector<std::string>& words) {
  CLI::App app;
  Bound bound;
  attach(bound, root, root.name, &app);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    if (const size_t line_end = text.find('\n'); line_end != std::string::npos) text.resize(line_end);
    usage_error(selected(bound), text);
  }
  const Bound& chosen = selected(bound);
  if (chosen.help) {
    std::fputs(help_text(chosen.full_name, *chosen.command).c_str(), stdout);
    return 0;
  }
  const std::vector<std::string> extras = chosen.app->remaining();
  if (!extras.empty()) unknown_word(chosen, extras.front());
  if (chosen.command->run) return chosen.command->run(distribute(chosen));
  std::fputs(help_text(chosen.full_name, *chosen.command).c_str(), stderr);
  return int(ExitCode::usage);
}

}  // namespace shoal
