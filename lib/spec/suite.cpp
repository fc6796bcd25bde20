#include "spec/suite.h"

#include <algorithm>
#include <set>

#include "spec/flow_text.h"
#include "spec/read_file.h"
#include "spec/reader.h"
#include "spec/scalar.h"
#include "spec/yaml_tree.h"

namespace shoal {
namespace {

// One point of an axis: a name, and overrides of the common part.
struct Variant {
  std::string name;
  std::vector<std::string> words;
};

class SuiteReader {
 public:
  explicit SuiteReader(std::string file) : file_(std::move(file)) {}

  std::vector<Variant> sizes, data;
  std::vector<Variant> seeds;

  void read(const YamlNode& suite) {
    if (suite.kind != YamlNode::Kind::map)
      fail(suite, "suite is a section", "the keys sizes, data and seeds");
    for (const auto& [name, value] : suite.entries) {
      if (name.text == "sizes") {
        sizes = variants(value, "");
      } else if (name.text == "data") {
        data = variants(value, "data.");
      } else if (name.text == "seeds") {
        seeds = seeds_of(value);
      } else {
        fail(name, "unknown key suite." + name.text, "the keys of suite: sizes, data, seeds");
      }
    }
    if (sizes.empty()) fail(suite, "suite has no sizes", "sizes: a list of {name: NAME, model: {...}}");
  }

 private:
  [[noreturn]] void fail(const YamlNode& at, const std::string& what, const std::string& allowed,
                         const std::string& hint = "") const {
    throw UserError(Problem{what, fmt::format("{}:{}:{}", file_, at.line, at.column), "", allowed, hint});
  }

  std::vector<Variant> seeds_of(const YamlNode& list) const {
    std::vector<Variant> found;
    for (const YamlNode& item : list.items) {
      if (item.quoted || !parse_unsigned(item.text))
        fail(item, "suite.seeds holds no seed", "a list of integers");
      found.push_back({"seed" + item.text, {"run.seed=" + item.text}});
    }
    if (found.empty()) fail(list, "suite.seeds is no list", "a list of integers");
    return check_names(std::move(found), list);
  }

  std::vector<Variant> variants(const YamlNode& list, const std::string& prefix) const {
    std::vector<Variant> found;
    for (const YamlNode& item : list.items) {
      Variant variant;
      for (const auto& [name, value] : item.entries) {
        if (name.text != "name") {
          add_words(prefix + name.text, value, variant.words);
        } else if (value.text.empty() || value.text.find_first_of("/ ") != std::string::npos) {
          fail(value, "this name cannot be a folder's", "letters, digits, dots and dashes");
        } else {
          variant.name = value.text;
        }
      }
      if (variant.name.empty()) fail(item, "a part of the suite has no name", "{name: NAME, ...}");
      for (const std::string& word : variant.words) check_word(item, word, prefix.empty());
      found.push_back(std::move(variant));
    }
    if (found.empty()) fail(list, "this part of the suite is no list", "a list of {name: NAME, ...}");
    return check_names(std::move(found), list);
  }

  std::vector<Variant> check_names(std::vector<Variant> found, const YamlNode& list) const {
    std::set<std::string> names;
    for (const Variant& variant : found) {
      if (!names.insert(variant.name).second)
        fail(list, "two parts of the suite are called " + variant.name, "");
    }
    return found;
  }

  // Sizes must not touch what decides which batch a step is.
  void check_word(const YamlNode& at, const std::string& word, bool is_size) const {
    static constexpr std::string_view fixed[] = {"data.", "batch.global=", "run.", "loss.goldfish."};
    if (!is_size) return;
    const auto touches = [&](std::string_view key) { return word.starts_with(key); };
    if (std::any_of(std::begin(fixed), std::end(fixed), touches)) {
      fail(at, "a size sets " + word.substr(0, word.find('=')), "keys on which the batches do not depend",
           "give it outside of suite, for all sizes");
    }
  }

  void add_words(const std::string& path, const YamlNode& value, std::vector<std::string>& words) const {
    if (value.kind != YamlNode::Kind::map) {
      words.push_back(path + "=" + flow_text(value));
      return;
    }
    for (const auto& [name, inner] : value.entries) add_words(path + "." + name.text, inner, words);
  }

  std::string file_;
};

std::string joined_name(const std::vector<std::string>& parts) {
  std::string name;
  for (const std::string& part : parts) {
    if (!part.empty()) name += (name.empty() ? "" : "-") + part;
  }
  return name;
}

}  // namespace

Suite load_suite(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                 Inputs inputs) {
  SuiteReader reader(files.empty() ? "" : files.front());
  bool found = false;
  for (const std::string& file : files) {
    const YamlNode root = read_yaml_file(file);
    for (const auto& [name, value] : root.entries) {
      if (name.text != "suite") continue;
      reader = SuiteReader(file);
      reader.read(value);
      found = true;
    }
  }
  if (!found) {
    throw UserError(Problem{"there is no section suite", files.empty() ? "" : files.front(), "",
                            "suite: {sizes: [{name: NAME, model: {...}}, ...]}",
                            "a single run: shoal train"});
  }
  const auto load = [&](const std::vector<std::string>& words, Inputs check) {
    SpecReader spec;
    spec.pass_over("suite");
    for (const std::string& file : files) add_spec_file(spec, file);
    for (const std::string& word : overrides) spec.add_override(word);
    for (const std::string& word : words) spec.add_override(word);
    return spec.finish(check);
  };
  if (reader.data.empty()) reader.data.push_back({});
  if (reader.seeds.empty()) reader.seeds.push_back({});

  Suite suite;
  for (const Variant& seed : reader.seeds) {
    for (const Variant& data : reader.data) {
      for (const Variant& size : reader.sizes) {
        std::vector<std::string> words = size.words;
        words.insert(words.end(), data.words.begin(), data.words.end());
        const LoadedSpec common = load(words, Inputs::unchecked);
        const RunSection& run = common.spec.run;
        suite.name = run.name;
        suite.dir = run.dir.empty() ? "runs/" + run.name : run.dir;
        const std::string name = joined_name({size.name, data.name, seed.name});
        const int64_t data_seed = common.spec.data.seed >= 0 ? common.spec.data.seed : int64_t(run.seed);
        words.insert(words.end(), seed.words.begin(), seed.words.end());
        words.push_back(fmt::format("data.seed={}", data_seed));
        words.push_back(fmt::format("run.name={}-{}", run.name, name));
        words.push_back(fmt::format("run.dir={}/{}", suite.dir, name));
        suite.runs.push_back({name, size.name, data.name, seed.name, load(words, inputs)});
      }
    }
  }
  return suite;
}

}  // namespace shoal
