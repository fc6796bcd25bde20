#include "spec/reader.h"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "base/text.h"
#include "spec/presets.h"

namespace shoal {
namespace {

constexpr int kWidth = 96;

bool is_section(const std::string& path) {
  const auto& sections = section_table();
  return std::any_of(sections.begin(), sections.end(),
                     [&](const Section& section) { return section.path == path; });
}

// The names that may stand directly in a section.
std::vector<std::string> names_in(const std::string& section) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& path) {
    const size_t begin = section.empty() ? 0 : section.size() + 1;
    const std::string name = path.substr(begin, path.find('.', begin) - begin);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& path : keys_of(section)) add(path);
  return names;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// The line of a file with a caret below the column, cut to what a terminal shows.
std::string excerpt_of(const std::string& line, int line_number, int column) {
  constexpr size_t kWindow = 90;
  const size_t at = size_t(column) - 1;
  if (at > line.size()) return "";
  const size_t begin = at > kWindow - 10 ? at - (kWindow - 10) : 0;
  std::string shown = line.substr(begin, kWindow);
  std::string pad;
  for (size_t i = 0; i < shown.size(); ++i) {
    if (i < at - begin && (uint8_t(shown[i]) & 0xc0) != 0x80) pad += ' ';
    if (uint8_t(shown[i]) < 0x20 || shown[i] == 0x7f) shown[i] = ' ';
  }
  const std::string number = fmt::format("{:>5}", line_number);
  return fmt::format("{} | {}\n{} | {}^", number, shown, std::string(number.size(), ' '), pad);
}

}  // namespace

void SpecReader::add_file(const std::string& name, const std::string& text) {
  sources_.push_back({name, split_lines(text), false});
  loaded_.files.push_back(name);
  try {
    const YamlNode root = read_yaml(text);
    if (root.kind == YamlNode::Kind::null) return;
    if (root.kind != YamlNode::Kind::map) {
      place_problem({.what = "a run spec is a map of sections",
                     .value = written(root),
                     .allowed = join_choices(names_in(""), " and ")},
                    root.line, root.column);
      return;
    }
    walk(root, "");
  } catch (const YamlError& error) {
    place_problem(error.problem, error.line, error.column);
    unread_ = true;
  }
}

void SpecReader::add_override(const std::string& word) {
  sources_.push_back({word, {}, true});
  const size_t equals = word.find('=');
  const std::string path = word.substr(0, std::min(equals, word.size()));
  if (equals == std::string::npos || path.empty()) {
    place_problem({.what = "not an override", .allowed = "KEY=VALUE, for example optimizer.lr=1e-3"}, 0, 0);
    return;
  }
  YamlNode name;
  name.kind = YamlNode::Kind::scalar;
  name.text = path;
  YamlNode value;
  const std::string text = word.substr(equals + 1);
  const Key* key = find_key(path);
  RunSpec scratch;
  const bool takes_text = key != nullptr && std::holds_alternative<std::string*>(key->field(scratch));
  const bool quoted = text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
  if (takes_text && !quoted) {
    // As the shell passed it: a path may hold a # or a colon.
    value.kind = YamlNode::Kind::scalar;
    value.text = text;
  } else {
    try {
      value = read_yaml(text);
    } catch (const YamlError& error) {
      place_problem(error.problem, 0, 0);
      return;
    }
  }
  read_entry(name, value, underscored(path));
}

void SpecReader::walk(const YamlNode& map, const std::string& section) {
  const std::string prefix = section.empty() ? "" : section + ".";
  place_all(duplicate_keys(map, prefix));
  for (const auto& [name, value] : map.entries) {
    const std::string path = prefix + underscored(name.text);
    // Only the command line has dotted keys: in a file they would hide that a key is given twice.
    name.text.find('.') == std::string::npos ? read_entry(name, value, path) : unknown_key(name, value, path);
  }
}

void SpecReader::read_entry(const YamlNode& name, const YamlNode& value, const std::string& path) {
  if (const Key* key = find_key(path)) {
    set(*key, value);
  } else if (path == passed_over_ && !path.empty()) {
    return;
  } else if (!is_section(path)) {
    unknown_key(name, value, path);
  } else if (value.kind == YamlNode::Kind::map) {
    walk(value, path);
  } else if (value.kind != YamlNode::Kind::null) {  // a section whose keys are all commented out is empty
    place_problem({.what = path + " is a section, it holds keys",
                   .value = written(value),
                   .allowed = wrapped(join_choices(names_in(path), " and "), kWidth - 11, 11)},
                  value.line, value.column);
  }
}

void SpecReader::set(const Key& key, const YamlNode& value) {
  std::vector<ValueProblem> problems = assign(key, value, loaded_.spec);
  if (problems.empty() && key.path == "model.preset" && !loaded_.spec.model.preset.empty()) {
    if (const Preset* preset = find_preset(loaded_.spec.model.preset)) {
      loaded_.spec.model.preset = preset->name;
    } else {
      const std::string near = nearest(loaded_.spec.model.preset, preset_names());
      problems.push_back({value.line,
                          value.column,
                          {.what = "unknown preset",
                           .value = written(value),
                           .allowed = wrapped(join_choices(preset_names()), kWidth - 11, 11),
                           .hint = near.empty() ? "" : "did you mean " + near + "?"}});
      loaded_.spec.model.preset.clear();
    }
  }
  if (key.path == "version" && !problems.empty()) {
    problems.front().problem.hint =
        "this program reads version 1 of the format; a later one needs a later program";
  }
  if (problems.empty()) {
    loaded_.origins[key.path] = origin_at(value.line, value.column);
    places_[key.path] = {sources_.size() - 1, value.line, value.column};
  } else {
    wrong_keys_.insert(key.path);
    place_all(std::move(problems));
  }
}

void SpecReader::unknown_key(const YamlNode& name, const YamlNode& value, const std::string& path) {
  const size_t dot = path.rfind('.');
  const std::string section = dot == std::string::npos ? "" : path.substr(0, dot);
  const bool dotted = name.text.find('.') != std::string::npos;
  Problem problem{.what = "unknown key " + (section.empty() ? name.text : path), .value = written(value)};
  if (find_key(section) != nullptr) {
    problem.what = fmt::format("{} holds no keys of its own, so there is no {}", section, path);
    problem.hint = "give it as a whole, for example " + section + "=[{path: PREFIX, weight: 1}]";
    place_problem(problem, name.line, name.column);
    return;
  }
  const Key* key = find_key(path);
  if (path == "suite") {
    problem.what = "suite stands for several runs, and one is asked for";
    problem.hint = "shoal suite show lists them, shoal suite train trains them";
  } else if (key != nullptr && dotted) {
    problem.what = "a dotted key stands in a file";
    problem.hint = fmt::format("nest it: {}: {{{}: {}}}", key->section(), key->name(), written(value));
  } else if (const std::string near = likely_key(path); !near.empty()) {
    problem.hint = "did you mean " + near + "?";
  }
  const std::string& shown = is_section(section) ? section : "";
  const std::string place = shown.empty() ? "the sections of a spec: " : "the keys of " + shown + ": ";
  problem.allowed = wrapped(place + join_choices(names_in(shown), ", "), kWidth - 11, 11);
  place_problem(problem, name.line, name.column);
}

void SpecReader::apply_preset() {
  const Preset* preset = find_preset(loaded_.spec.model.preset);
  if (preset == nullptr) return;
  for (const auto& [name, value] : preset->keys.entries) {
    const Key* key = find_key("model." + underscored(name.text));
    if (key == nullptr) {
      add_unreadable({.what = fmt::format("preset {} holds an unknown key {}", preset->name, name.text)});
    } else if (loaded_.origins.count(key->path) == 0) {
      place_all(assign(*key, value, loaded_.spec));
      loaded_.origins[key->path] = {.text = "preset " + preset->name, .where = "preset " + preset->name};
    }
  }
}

LoadedSpec SpecReader::finish(Inputs inputs) {
  apply_preset();
  if (!unread_) report_conflicts(spec_conflicts(loaded_.spec));
  if (!unread_ && inputs == Inputs::checked) report_conflicts(missing_inputs(loaded_.spec));
  if (found_.empty()) return std::move(loaded_);
  std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
    return std::tie(a.place.source, a.place.line, a.place.column) <
           std::tie(b.place.source, b.place.line, b.place.column);
  });
  std::vector<Problem> problems;
  for (Found& found : found_) problems.push_back(std::move(found.problem));
  throw SpecErrors(std::move(problems));
}

void SpecReader::report_conflicts(const std::vector<Conflict>& conflicts) {
  for (const Conflict& conflict : conflicts) {
    const auto wrong = [&](const std::string& key) { return wrong_keys_.count(key) > 0; };
    if (std::any_of(conflict.keys.begin(), conflict.keys.end(), wrong)) continue;
    Found found{{sources_.size(), 0, 0}, located(loaded_, conflict)};
    for (const std::string& key : conflict.keys) {
      const auto place = places_.find(key);
      if (place == places_.end()) continue;
      found.place = place->second;
      break;
    }
    found_.push_back(std::move(found));
  }
}

Origin SpecReader::origin_at(int line, int column) const {
  const Source& source = sources_.back();
  if (source.is_override) return {.text = "override", .where = "override '" + source.name + "'"};
  if (line < 1) return {.text = source.name, .where = source.name};
  const std::string where = fmt::format("{}:{}:{}", source.name, line, column);
  const size_t row = size_t(line) - 1;
  return {.text = where,
          .where = where,
          .excerpt = row < source.lines.size() ? excerpt_of(source.lines[row], line, column) : ""};
}

void SpecReader::place_problem(Problem problem, int line, int column) {
  Place place{sources_.size(), line, column};
  if (!sources_.empty()) {
    const Origin origin = origin_at(line, column);
    problem.where = origin.where;
    problem.excerpt = origin.excerpt;
    place.source = sources_.size() - 1;
  }
  found_.push_back({place, std::move(problem)});
}

void SpecReader::place_all(std::vector<ValueProblem> problems) {
  for (ValueProblem& found : problems) place_problem(std::move(found.problem), found.line, found.column);
}

Problem located(const LoadedSpec& loaded, const Conflict& conflict) {
  Problem problem = conflict.problem;
  for (const std::string& key : conflict.keys) {
    const auto origin = loaded.origins.find(key);
    if (origin == loaded.origins.end()) continue;
    problem.where = origin->second.where.empty() ? origin->second.text : origin->second.where;
    problem.excerpt = origin->second.excerpt;
    return problem;
  }
  problem.where = conflict.keys.front() + " (default)";
  return problem;
}

}  // namespace shoal
