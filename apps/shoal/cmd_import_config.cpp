#include <fmt/format.h>

#include "base/text.h"
#include "base/whole_file.h"
#include "shoal/commands.h"
#include "spec/neox_import.h"

namespace shoal {
namespace {

std::string comments(const char* title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    std::string wrapped_line = wrapped(line, 106, 0);
    for (size_t at = 0; (at = wrapped_line.find('\n', at)) != std::string::npos; at += 5)
      wrapped_line.replace(at, 1, "\n#   ");
    text += "# - " + wrapped_line + "\n";
  }
  return text.empty() ? "" : fmt::format("# {}\n{}#\n", title, text);
}

int import_config(const Invocation& given) {
  const std::vector<std::string> files = given.all("FILE");
  const NeoxImport made = import_neox(files, given.integer("--data-ranks", 0, 1));
  const std::string text = fmt::format("# From {}.\n#\n", join_choices(files, " and ")) +
                           comments("What to know:", made.notes) +
                           comments("Without an equivalent, and left out:", made.left_out) + made.yaml;
  const std::string output = given.text("--output");
  if (output.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  write_whole_file(output, text);
  fmt::print("{}: {} notes at its beginning; {} keys left out\n", output, made.notes.size(),
             made.left_out.size());
  return 0;
}

}  // namespace

Command import_config_command() {
  return {
      .name = "import-config",
      .summary = "make a run spec of GPT-NeoX configuration files",
      .description =
          "Reads one or several YAML files of GPT-NeoX, as the Pythia suite was trained from, and writes the "
          "spec of the same run: every value with the line it comes from, and at the beginning what a run "
          "here "
          "would do differently and which keys have no equivalent.",
      .arguments = {{.name = "FILE", .doc = "A configuration; later files win.", .repeated = true}},
      .flags = {{.name = "--data-ranks",
                 .value = "N",
                 .doc = "Data-parallel ranks of the published run, which its global batch depends on."},
                {.name = "--output", .value = "FILE", .doc = "Write there and not to the terminal."}},
      .examples = {{"shoal import-config pythia-1.4b.yml --data-ranks 64 --output 1.4b.yaml", ""}},
      .run = import_config};
}

}  // namespace shoal
