#include <cstdio>

#include "shoal/commands.h"
#include "shoal/completion.h"

namespace shoal {
namespace {

int print_completion(const Invocation& given) {
  const Command root = shoal_program();
  const std::string script = given.text("SHELL") == "bash" ? bash_completion(root) : zsh_completion(root);
  std::fputs(script.c_str(), stdout);
  return 0;
}

}  // namespace

Command completion_command() {
  return {
      .name = "completion",
      .summary = "print a shell's completion script",
      .description = "The script completes commands, flags, files, the keys of a spec, and their values.",
      .arguments = {{.name = "SHELL",
                     .doc = "The shell to write for.",
                     .choices = {"bash", "zsh"},
                     .completes = Completes::nothing}},
      .examples = {{"source <(shoal completion bash)", "For this shell."},
                   {"shoal completion zsh > ~/.zfunc/_shoal", "For every zsh whose fpath holds ~/.zfunc."}},
      .run = print_completion};
}

}  // namespace shoal
