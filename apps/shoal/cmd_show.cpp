#include <cstdio>

#include "shoal/commands.h"
#include "shoal/spec_words.h"
#include "spec/load.h"
#include "spec/presets.h"

namespace shoal {
namespace {

int show(const Invocation& given) {
  const auto print = [](const std::string& text) { std::fputs(text.c_str(), stdout); };
  if (given.has("--schema")) {
    print(json_schema());
  } else if (given.has("--reference")) {
    print(reference_markdown());
  } else if (given.has("--presets")) {
    for (const std::string& name : preset_names()) print(name + "\n");
  } else {
    print(to_yaml(spec_of(given, Inputs::unchecked), !given.has("--plain")));
  }
  return 0;
}

}  // namespace

Command show_command() {
  return {
      .name = "show",
      .summary = "print the resolved spec, with the origin of each value",
      .description =
          "Reads the spec and prints every key as YAML that reads back to the same spec. Behind each value "
          "stands where it came from: default, a preset, file:line:column, or override. Without SPEC it "
          "prints the defaults.",
      .arguments = spec_arguments(false),
      .flags = {{.name = "--plain", .doc = "Leave the origins out."},
                {.name = "--presets", .doc = "List the published shapes that model.preset knows."},
                {.name = "--schema", .doc = "Print the JSON Schema of a spec, for editors."},
                {.name = "--reference", .doc = "Print the reference of every key, as Markdown."}},
      .examples = {{"shoal show configs/demo.yaml optimizer.lr=1e-3",
                    "The demo's spec with one key changed."},
                   {"shoal show model.preset=pythia-70m", "What a preset stands for."},
                   {"shoal show --schema > spec.schema.json",
                    "Give an editor what it needs to complete keys."}},
      .run = show};
}

}  // namespace shoal
