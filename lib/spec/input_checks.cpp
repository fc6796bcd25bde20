#include <filesystem>

#include "spec/checks.h"
#include "spec/token_files.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string looked_in(const std::string& path) {
  if (path.empty() || path[0] == '/') return "";
  std::error_code ignored;
  return fmt::format("relative paths start at the working directory, {}", fs::current_path(ignored).string());
}

void check_source(const std::string& key, const DataSource& source, std::vector<Conflict>& out) {
  const bool bin = !bin_files_of(source.path).empty(), idx = is_file(source.path + ".idx");
  if (bin && idx) return;
  Problem problem{.what = bin   ? fmt::format("{}.idx is missing beside {}.bin", source.path, source.path)
                          : idx ? fmt::format("{}.bin is missing beside {}.idx", source.path, source.path)
                                : fmt::format("there are no {}.bin and {}.idx", source.path, source.path),
                  .value = source.path,
                  .allowed = "the prefix of a .bin/.idx pair, as `shoal data tokenize` writes it",
                  .hint = looked_in(source.path)};
  if (is_file(source.path))
    problem.hint = fmt::format("for a text: shoal data tokenize {} makes the pair", source.path);
  for (const char* suffix : {".bin", ".idx"}) {
    const size_t length = source.path.size();
    if (length > 4 && source.path.compare(length - 4, 4, suffix) == 0) {
      problem.hint = fmt::format("leave the {} out: {}", suffix, source.path.substr(0, length - 4));
    }
  }
  out.push_back({{key}, std::move(problem)});
}

}  // namespace

std::vector<Conflict> missing_inputs(const RunSpec& spec) {
  std::vector<Conflict> out;
  const DataSection& data = spec.data;
  if (data.tokenizer.empty() && spec.model.vocab_size == 0) {
    out.push_back({{"data.tokenizer", "model.vocab_size"},
                   {.what = "neither a tokenizer nor a vocabulary size is given",
                    .allowed = "data.tokenizer: byte or a tokenizer.json; or model.vocab_size"}});
  } else if (!data.tokenizer.empty() && data.tokenizer != "byte" && !is_file(data.tokenizer)) {
    out.push_back({{"data.tokenizer"},
                   {.what = "the tokenizer's file is missing",
                    .value = data.tokenizer,
                    .allowed = "byte, or the path of a Hugging Face tokenizer.json",
                    .hint = looked_in(data.tokenizer)}});
  }
  if (data.train.empty()) {
    out.push_back({{"data.train"},
                   {.what = "there is no training data",
                    .allowed = "data.train: [{path: PREFIX}], the prefixes of .bin/.idx pairs"}});
  }
  for (const DataSource& source : data.train) check_source("data.train", source, out);
  for (const DataSource& source : data.valid) check_source("data.valid", source, out);
  for (const DataSource& source : data.test) check_source("data.test", source, out);
  std::error_code ignored;
  for (const auto& [key, path] : {std::pair{"run.fork", spec.run.fork}, {"run.branch", spec.run.branch}}) {
    if (path.empty() || fs::exists(path, ignored)) continue;
    out.push_back({{key},
                   {.what = "what the run is to start from is missing",
                    .value = path,
                    .allowed = "a checkpoint, or the folder of a run",
                    .hint = looked_in(path)}});
  }
  return out;
}

}  // namespace shoal
