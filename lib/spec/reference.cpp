// The reference page of the spec, docs/reference.md.
#include <fmt/format.h>

#include "base/text.h"
#include "spec/load.h"
#include "spec/presets.h"
#include "spec/value.h"

namespace shoal {
namespace {

constexpr const char* kIntroduction = R"(# The run spec

This page is written by `shoal show --reference` from the table that the program itself reads specs with.

A run spec is a YAML file of sections. Every key has a default, so a spec says only what differs. On the command line
any key can be set as `section.key=value`. Of several values for one key the last one counts: defaults, then the
preset, then the files in their order, then the command line. `shoal show` prints where each value came from.

- `-` and `_` are the same in keys, in choices and in names of presets.
- An integer may be written `4096`, `4_096` or `4.096e3`; a number also `1e-8`, `.5` and `1_000.5`. Numbers in quotes
  are text. `0x10` and `010` are refused, because YAML's versions disagree about them.
- `true`, `yes` and `on` are the same, and so are `false`, `no` and `off`.
- Anchors, aliases and merge keys (`<<: *base`) work; tags (`!!int`) and several documents in one file are refused.
- A key that is unknown, given twice, of the wrong type or out of range is an error, and all errors of a spec are
  reported together.
- Relative paths start at the working directory of the program, not at the folder of the spec.
- A list is replaced as a whole: `data.train=[{path: a}, {path: b, weight: 2}]`.
)";

std::string cell(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string key_row(const Key& key) {
  const std::string unit = key.unit.empty() ? "" : ", in " + key.unit;
  return fmt::format("| `{}` | {}{} | `{}` | {} |\n", key.name(), cell(key.allowed_text()), unit,
                     value_text(key, RunSpec{}), cell(key.doc));
}

}  // namespace

std::string reference_markdown() {
  std::string page = kIntroduction;
  constexpr const char* kHead = "\n| key | allowed | default | meaning |\n|---|---|---|---|\n";
  page += "\n## At the top level\n";
  page += kHead;
  for (const Key& key : key_table()) {
    if (key.section().empty()) page += key_row(key);
  }
  for (const Section& section : section_table()) {
    page += fmt::format("\n## {}\n\n{}\n", section.path, section.doc);
    page += kHead;
    for (const Key& key : key_table()) {
      if (key.section() == section.path) page += key_row(key);
    }
  }
  page +=
      "\n## Presets\n\nNames for `model.preset`. Each is a set of keys of the section `model`, kept in "
      "`configs/presets`.\n\n";
  for (const std::string& name : preset_names()) page += fmt::format("- `{}`\n", name);
  return page;
}

}  // namespace shoal
