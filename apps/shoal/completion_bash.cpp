#include <fmt/format.h>

#include "shoal/completion.h"

namespace shoal {
namespace {

// Bash cuts words at '=', so a value arrives as three words: KEY, =, VALUE.
constexpr const char* kBegin = R"(# Bash completion of shoal. To load it: source <(shoal completion bash)

_shoal() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev= key= at=shoal i
  (( COMP_CWORD > 0 )) && prev=${COMP_WORDS[COMP_CWORD-1]}
  if [[ $cur == "=" ]]; then
    key=$prev cur=
  elif [[ $prev == "=" ]]; then
    (( COMP_CWORD > 1 )) && key=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for (( i = 1; i < COMP_CWORD; i++ )); do
    case "$at ${COMP_WORDS[i]}" in
)";

constexpr const char* kEnd = R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ -n $files && $cur != -* ]]; then
    compopt -o filenames
    COMPREPLY+=($(compgen "$files" -- "$cur"))
  fi
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}

complete -F _shoal shoal
)";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string values_case() {
  std::string text = "  if [[ -n $key ]]; then\n    case $key in\n";
  for (const Key& key : key_table()) {
    const std::string words = joined(value_words(key));
    if (words.empty()) continue;
    text += fmt::format("      {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", key.path, words);
  }
  return text +
         "      *) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
         "    esac\n    return 0\n  fi\n";
}

// What may follow a flag that takes a value.
std::string flags_case(const std::vector<std::pair<std::string, const Command*>>& commands) {
  std::string text = "  case \"$at $prev\" in\n";
  for (const auto& [name, command] : commands) {
    for (const Flag& flag : command->flags) {
      if (flag.value.empty()) continue;
      const std::string offer = flag.completes == Completes::folder ? "-d"
                                : flag.choices.empty()              ? "-f"
                                                                    : "-W '" + joined(flag.choices) + "'";
      text += fmt::format("    '{} {}') COMPREPLY=($(compgen {} -- \"$cur\")); return 0 ;;\n", name,
                          flag.name, offer);
    }
  }
  return text + "  esac\n";
}

}  // namespace

std::string bash_completion(const Command& root) {
  const auto commands = all_commands(root);
  std::string text = kBegin;
  for (const auto& [name, command] : commands) {
    if (command != &root) text += fmt::format("      '{}') at='{}' ;;\n", name, name);
  }
  text += "    esac\n  done\n" + values_case() + flags_case(commands);

  std::vector<std::string> keys;
  for (const Key& key : key_table()) keys.push_back(key.path + "=");
  text += fmt::format("  local words= files= keys='{}'\n  case $at in\n", joined(keys));
  for (const auto& [name, command] : commands) {
    std::vector<std::string> words;
    for (const Command& child : command->commands) words.push_back(child.name);
    for (const Flag& flag : command->flags) words.push_back(flag.name);
    words.push_back("--help");
    for (const Argument& argument : command->arguments)
      words.insert(words.end(), argument.choices.begin(), argument.choices.end());
    const bool has_keys = takes(*command, Completes::override_key);
    const bool has_files = takes(*command, Completes::file) || takes(*command, Completes::spec_file);
    const char* files = has_files ? "-f" : takes(*command, Completes::folder) ? "-d" : "";
    text += fmt::format("    '{}') words='{}'{} files={} ;;\n", name, joined(words),
                        has_keys ? "\" $keys\"" : "", files);
  }
  return text + kEnd;
}

}  // namespace shoal
