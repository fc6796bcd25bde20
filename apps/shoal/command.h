// The command table: one entry a subcommand, from which parsing, --help, the man page and shell completion
// follow.
//
// To add a command: write cmd_<name>.cpp with `Command <name>_command()`, declare it in commands.h and list
// it in commands.cpp. Its body gets an Invocation and returns an exit code; mistakes are thrown
// (base/error.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

// How the shell completes a word.
enum class Completes { nothing, file, folder, spec_file, override_key };

// A positional argument. At most one is repeated, beside an override_key one, which takes every KEY=VALUE
// word.
struct Argument {
  std::string name = {};  // "SPEC"
  std::string doc = {};
  std::vector<std::string> choices = {};
  Completes completes = Completes::file;
  bool required = true;
  bool repeated = false;
};

struct Flag {
  std::string name = {};   // "--steps"
  std::string value = {};  // "N", what it takes; empty: a switch
  std::string doc = {};
  std::vector<std::string> choices = {};
  Completes completes = Completes::nothing;
  bool repeated = false;
};

struct Example {
  std::string command = {};
  std::string doc = {};
};

// The words that a user gave to one command, already checked against its entry.
class Invocation {
 public:
  bool has(const std::string& name) const { return values_.count(name) > 0; }
  // The value of an argument or flag ("SPEC", "--steps"); the first one of several; fallback if it was not
  // given.
  std::string text(const std::string& name, const std::string& fallback = "") const;
  std::vector<std::string> all(const std::string& name) const;
  // Throw UserError naming the flag if the value is no number or out of range.
  int64_t integer(const std::string& name, int64_t fallback, int64_t low, int64_t high = INT64_MAX) const;
  double number(const std::string& name, double fallback, double low, double high) const;

  void add(const std::string& name, const std::string& value) { values_[name].push_back(value); }

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

struct Command {
  std::string name = {};         // one word, "tokenize"
  std::string summary = {};      // half a line, for the list of commands
  std::string description = {};  // further sentences, for the command's own help
  std::vector<Argument> arguments = {};
  std::vector<Flag> flags = {};
  std::vector<Example> examples = {};
  std::function<int(const Invocation&)> run = {};
  std::vector<Command> commands = {};  // for a group such as "data"; then run is empty, unless the group's
                                       // name alone does something too, as "eval RUN"
};

// "shoal data tokenize [--flag N] FILE..."
std::string usage_line(const std::string& full_name, const Command& command);

// The help text of a command or group; full_name is "shoal" or "shoal data tokenize".
std::string help_text(const std::string& full_name, const Command& command);

// The table's root is the program itself. Parses the words, runs the command, returns its exit code.
int run_command_line(const Command& root, const std::vector<std::string>& words);

}  // namespace shoal
