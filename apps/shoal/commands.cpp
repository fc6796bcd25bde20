#include "shoal/commands.h"

#include <cstdio>

#include "shoal/build_info.h"

namespace shoal {

Command shoal_program() {
  Command root{
      .name = "shoal",
      .summary = "trains GPT-style language models from one YAML run spec",
      .description =
          "Everything about a run is a key of the spec; any key can be set on the command line as "
          "KEY=VALUE. `shoal show` prints every key with its value and where that came from.",
      .flags = {{.name = "--version", .doc = "Print the version and how this program was built."}},
      .examples = {{"shoal check configs/demo.yaml",
                    "Read a spec, report every mistake, and say what the run needs."},
                   {"shoal train configs/demo.yaml optimizer.lr=1e-3", "Train, with one key changed."}},
  };
  // clang-format off
  root.commands = {
      check_command(),
      show_command(),
      data_command(),
      train_command(),
      suite_command(),
      sweep_command(),
      eval_command(),
      generate_command(),
      ckpt_command(),
      hf_command(),
      import_config_command(),
      bench_command(),
      report_command(),
      fit_command(),
      slurm_command(),
      man_command(),
      completion_command(),
  };
  // clang-format on
  root.run = [](const Invocation& given) {
    if (given.has("--version")) {
      std::fputs(build_report().c_str(), stdout);
      return 0;
    }
    std::fputs(help_text("shoal", shoal_program()).c_str(), stderr);
    return 2;
  };
  return root;
}

}  // namespace shoal
