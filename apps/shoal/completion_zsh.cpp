#include <fmt/format.h>

#include "shoal/completion.h"

namespace shoal {
namespace {

constexpr const char* kBegin = R"(#compdef shoal
# Zsh completion of shoal. To load it: source <(shoal completion zsh)

_shoal() {
  local at=shoal word cur=${words[CURRENT]} prev=${words[CURRENT-1]}
  local -a commands flags keys
  for word in ${words[2,CURRENT-1]}; do
    case "$at $word" in
)";

constexpr const char* kEnd = R"(  esac
  (( $#commands )) && _describe -t commands 'command' commands
  [[ $cur == -* ]] && _describe -t flags 'flag' flags
  (( $#keys )) && [[ $cur != -* ]] && _describe -t keys 'spec key' keys -S '='
  [[ -n $files && $cur != -* ]] && _files ${=files}
  return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _shoal "$@"
else
  compdef _shoal shoal
fi
)";

// In single quotes, where ' ends the text; and ':' parts a word from its description.
std::string quoted(const std::string& word, const std::string& description) {
  std::string text;
  for (char c : word) text += c == ':' ? std::string("\\:") : std::string(1, c);
  text += ":";
  for (char c : description) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + text + "'";
}

std::string values_case() {
  std::string text =
      "  if [[ $cur == [a-z]*=* ]]; then\n    local key=${cur%%=*}\n    compset -P '*='\n    case $key in\n";
  for (const Key& key : key_table()) {
    std::string words;
    for (const std::string& word : value_words(key)) words += " " + word;
    if (!words.empty()) text += fmt::format("      {}) compadd --{} ;;\n", key.path, words);
  }
  return text + "      *) _files ;;\n    esac\n    return 0\n  fi\n";
}

std::string flags_case(const std::vector<std::pair<std::string, const Command*>>& commands) {
  std::string text = "  case \"$at $prev\" in\n";
  for (const auto& [name, command] : commands) {
    for (const Flag& flag : command->flags) {
      if (flag.value.empty()) continue;
      std::string offer = flag.completes == Completes::folder ? "_files -/" : "_files";
      if (!flag.choices.empty()) offer = "compadd --";
      for (const std::string& choice : flag.choices) offer += " " + choice;
      text += fmt::format("    '{} {}') {}; return 0 ;;\n", name, flag.name, offer);
    }
  }
  return text + "  esac\n";
}

}  // namespace

std::string zsh_completion(const Command& root) {
  const auto all = all_commands(root);
  std::string text = kBegin;
  for (const auto& [name, command] : all) {
    if (command != &root) text += fmt::format("      '{}') at='{}' ;;\n", name, name);
  }
  text += "    esac\n  done\n" + values_case() + flags_case(all);
  text += "  local files=\n  local -a spec_keys\n  spec_keys=(\n";
  for (const Key& key : key_table()) text += "    " + quoted(key.path, key.doc) + "\n";
  text += "  )\n  case $at in\n";
  for (const auto& [name, command] : all) {
    text += fmt::format("    '{}')\n", name);
    std::string commands, flags = quoted("--help", "Print help.");
    for (const Command& child : command->commands) commands += " " + quoted(child.name, child.summary);
    for (const Flag& flag : command->flags) flags += " " + quoted(flag.name, flag.doc);
    for (const Argument& argument : command->arguments) {
      for (const std::string& choice : argument.choices) commands += " " + quoted(choice, argument.name);
    }
    text += fmt::format("      commands=({})\n      flags=({})\n", commands, flags);
    if (takes(*command, Completes::override_key)) text += "      keys=($spec_keys)\n";
    if (takes(*command, Completes::spec_file))
      text += "      files='-g *.(yaml|yml)(-.)'\n";
    else if (takes(*command, Completes::file))
      text += "      files='-f'\n";
    else if (takes(*command, Completes::folder))
      text += "      files='-/'\n";
    text += "      ;;\n";
  }
  return text + kEnd;
}

}  // namespace shoal
