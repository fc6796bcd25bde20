// Reading a run spec: files, then overrides; all problems of one spec are reported together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "spec/run_spec.h"

namespace shoal {

// Where a value came from: "default", "preset pythia-70m", "configs/demo.yaml:12:7", "override".
struct Origin {
  std::string text;
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

// Files are merged in order, later values win; overrides ("optimizer.lr=1e-3") win over files. Throws SpecErrors.
LoadedSpec load_spec(const std::vector<std::string>& files, const std::vector<std::string>& overrides);

// The same from text, for tests, fuzzing and specs stored in checkpoints; name stands in for the file's name.
LoadedSpec parse_spec(const std::string& yaml, const std::string& name, const std::vector<std::string>& overrides);

// The resolved spec as YAML, every key, in table order; with_origins adds "# origin" to each line.
// parse_spec of the result gives the same spec.
std::string to_yaml(const LoadedSpec& loaded, bool with_origins);

// JSON Schema (draft 2020-12) of a spec file.
std::string json_schema();

}  // namespace shoal
