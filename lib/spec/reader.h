// The steps from YAML text to a RunSpec: every file and override is laid over the defaults, problems are
// collected.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "spec/checks.h"
#include "spec/load.h"
#include "spec/value.h"

namespace shoal {

// The conflict's problem, at the place of the first of its keys that was not left to its default.
Problem located(const LoadedSpec& loaded, const Conflict& conflict);

class SpecReader {
 public:
  void add_file(const std::string& name, const std::string& text);
  void add_override(const std::string& word);
  // Passes over a top-level section that is no part of one run's spec (suite.h, sweep/sweep.h).
  void pass_over(const std::string& section) { passed_over_ = section; }
  // A file that cannot be read at all.
  void add_unreadable(const Problem& problem) {
    found_.push_back({{sources_.size(), 0, 0}, problem});
    unread_ = true;
  }

  // Fills in the preset and checks what the values say about each other. Throws SpecErrors if anything was
  // wrong.
  LoadedSpec finish(Inputs inputs);

 private:
  // What is being read: a file's lines, or an override.
  struct Source {
    std::string name;
    std::vector<std::string> lines;  // of a file
    bool is_override = false;
  };
  struct Place {
    size_t source = 0;
    int line = 0, column = 0;
  };
  struct Found {
    Place place;
    Problem problem;
  };

  void walk(const YamlNode& map, const std::string& section);
  void read_entry(const YamlNode& name, const YamlNode& value, const std::string& path);
  void set(const Key& key, const YamlNode& value);
  void unknown_key(const YamlNode& name, const YamlNode& value, const std::string& path);
  void apply_preset();
  void report_conflicts(const std::vector<Conflict>& conflicts);

  Origin origin_at(int line, int column) const;
  void place_problem(Problem problem, int line, int column);
  void place_all(std::vector<ValueProblem> problems);

  LoadedSpec loaded_;
  std::vector<Source> sources_;
  std::vector<Found> found_;
  std::map<std::string, Place> places_;  // of the value that a key has now
  std::string passed_over_;
  bool unread_ = false;  // a part of the spec is not known, so that nothing can be said of the whole
  std::set<std::string> wrong_keys_;  // keys whose value could not be read: no conflict is reported for them
};

}  // namespace shoal
