// Reading a run spec: files, then overrides; all problems of one spec are reported together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "spec/run_spec.h"

namespace shoal {

// Where a value came from.
struct Origin {
  std::string text;          // "default", "preset pythia-70m", "configs/demo.yaml:12:7", "override"
  std::string where = {};    // for messages: "configs/demo.yaml:12:7", "override 'optimizer.lr=1'"
  std::string excerpt = {};  // for messages: the line of the file, with a caret
};

struct LoadedSpec {
  RunSpec spec;
  std::map<std::string, Origin> origins;  // by key path; a key that is absent has its default
  std::vector<std::string> files;
};

// Every problem found, in the order of the file. what() lists them all.
class SpecErrors : public Error {
 public:
  explicit SpecErrors(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

// Whether the files that a spec names must be there. A spec that is only shown, or comes from a checkpoint,
// needs none.
enum class Inputs { unchecked, checked };

// Files are merged in order, later values win; a list is replaced as a whole. A preset fills in what neither
// files nor overrides say. Overrides ("optimizer.lr=1e-3", "data.train=[{path: x}]") win over files. Throws
// SpecErrors.
LoadedSpec load_spec(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                     Inputs inputs = Inputs::unchecked);

// The same from text, for tests, fuzzing and specs stored in checkpoints; name stands in for the file's name.
LoadedSpec parse_spec(const std::string& yaml, const std::string& name,
                      const std::vector<std::string>& overrides);

// What a run needs and does not find: training data, the tokenizer's file, the .bin and .idx of every source.
// Relative paths are relative to the working directory.
std::vector<Problem> check_files(const LoadedSpec& loaded);

// The resolved spec as YAML, every key, in table order; with_origins adds "# origin" to each line.
// parse_spec of the result gives the same spec.
std::string to_yaml(const LoadedSpec& loaded, bool with_origins);

// JSON Schema (draft 2020-12) of a spec file.
std::string json_schema();

// The reference of every key, as Markdown: docs/reference.md.
std::string reference_markdown();

}  // namespace shoal
