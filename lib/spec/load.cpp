#include "spec/load.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "spec/checks.h"
#include "spec/read_file.h"
#include "spec/reader.h"

namespace shoal {
namespace {

std::string message(const std::vector<Problem>& problems) {
  if (problems.size() == 1) return to_string(problems.front());
  std::string text = fmt::format("{} problems in the run spec", problems.size());
  for (const Problem& problem : problems) text += "\n\n" + to_string(problem);
  return text;
}

// A file beside a missing one, or in configs, that was probably meant.
std::string file_hint(const std::string& path) {
  const std::filesystem::path wanted(path);
  const std::string folder = wanted.parent_path().empty() ? "." : wanted.parent_path().string();
  for (const std::string& place : {folder, std::string("configs")}) {
    std::vector<std::string> names;
    std::error_code failed;
    for (std::filesystem::directory_iterator file(place, failed), end; !failed && file != end;
         file.increment(failed)) {
      if (file->path().extension() == ".yaml") names.push_back(file->path().filename().string());
    }
    const std::string near = nearest(wanted.filename().string(), names);
    if (!near.empty())
      return "did you mean " + (std::filesystem::path(place) / near).lexically_normal().string() + "?";
  }
  return "";
}

}  // namespace

void add_spec_file(SpecReader& reader, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    reader.add_unreadable({.what = "this is a folder, not a run spec", .where = path});
    return;
  }
  if (!std::filesystem::exists(path, ignored)) {
    reader.add_unreadable({.what = "there is no such run spec", .where = path, .hint = file_hint(path)});
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) {
    reader.add_unreadable({.what = "cannot read the run spec", .where = path, .value = std::strerror(errno)});
    return;
  }
  reader.add_file(path, text.str());
}

YamlNode read_yaml_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  try {
    return read_yaml(text.str());
  } catch (const YamlError&) {
    return {};
  }
}

SpecErrors::SpecErrors(std::vector<Problem> problems)
    : Error(ExitCode::usage, message(problems)), problems_(std::move(problems)) {}

LoadedSpec load_spec(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                     Inputs inputs) {
  SpecReader reader;
  for (const std::string& file : files) add_spec_file(reader, file);
  for (const std::string& word : overrides) reader.add_override(word);
  return reader.finish(inputs);
}

LoadedSpec parse_spec(const std::string& yaml, const std::string& name,
                      const std::vector<std::string>& overrides) {
  SpecReader reader;
  reader.add_file(name, yaml);
  for (const std::string& word : overrides) reader.add_override(word);
  return reader.finish(Inputs::unchecked);
}

std::vector<Problem> check_files(const LoadedSpec& loaded) {
  std::vector<Problem> problems;
  for (const Conflict& conflict : missing_inputs(loaded.spec)) problems.push_back(located(loaded, conflict));
  return problems;
}

}  // namespace shoal
