#include "hf/tokenizer_files.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/bpe/description.h"
#include "data/byte_tokenizer.h"
#include "data/tokenizer.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* tokenizer_name = "tokenizer.json";
constexpr const char* beside[] = {"tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"};

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) runtime_failure("cannot write {}", path);
}

void copy_over(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) runtime_failure("cannot copy {} to {}: {}", from.string(), to.string(), error.message());
}

// One token a byte: the byte alphabet without merges cuts every piece into its bytes.
std::string byte_tokenizer_json() {
  BpeDescription bytes;
  bytes.steps = {{SplitStep::Kind::gpt2, ""}};
  for (int b = 0; b < 256; ++b) bytes.vocab.push_back({std::string(1, char(b)), b});
  bytes.added.push_back({.content = "<|endoftext|>", .id = ByteTokenizer::kEndOfDocument, .special = true});
  return to_tokenizer_json(bytes);
}

// How the added token of an id is written; empty: there is none.
std::string added_token_text(const std::string& tokenizer_json, int64_t id) {
  const json tokenizer = json::parse(std::ifstream(tokenizer_json), nullptr, false);
  if (!tokenizer.is_object() || !tokenizer.contains("added_tokens")) return "";
  for (const json& token : tokenizer["added_tokens"]) {
    if (token.is_object() && token.value("id", int64_t{-1}) == id) return token.value("content", "");
  }
  return "";
}

}  // namespace

bool copy_tokenizer_files(const std::string& from_folder, const std::string& to_folder) {
  const fs::path from(from_folder), to(to_folder);
  if (!fs::is_regular_file(from / tokenizer_name)) return false;
  copy_over(from / tokenizer_name, to / tokenizer_name);
  for (const char* name : beside) {
    if (fs::is_regular_file(from / name)) copy_over(from / name, to / name);
  }
  return true;
}

HfTokenIds write_tokenizer_files(const std::string& tokenizer, const std::string& to_folder,
                                 int64_t max_positions) {
  const fs::path to(to_folder);
  if (tokenizer == "byte") {
    write_text(to / tokenizer_name, byte_tokenizer_json());
  } else if (fs::is_directory(tokenizer)) {
    copy_tokenizer_files(tokenizer, to_folder);
  } else if (fs::path(tokenizer).filename() == tokenizer_name) {
    copy_tokenizer_files(fs::path(tokenizer).parent_path() / "", to_folder);
  } else {
    copy_over(tokenizer, to / tokenizer_name);
  }
  const int64_t end = open_tokenizer(tokenizer)->end_of_document();
  const std::string text = added_token_text(to / tokenizer_name, end);
  json special = json::object();
  if (!text.empty()) special = {{"bos_token", text}, {"eos_token", text}, {"unk_token", text}};
  if (!fs::exists(to / "special_tokens_map.json"))
    write_text(to / "special_tokens_map.json", special.dump(2) + "\n");
  if (!fs::exists(to / "tokenizer_config.json")) {
    json config = special;
    config["tokenizer_class"] = "PreTrainedTokenizerFast";
    config["model_max_length"] = max_positions;
    config["clean_up_tokenization_spaces"] = false;
    write_text(to / "tokenizer_config.json", config.dump(2) + "\n");
  }
  return {end, end};
}

std::string generation_config(const HfTokenIds& ids) {
  json config = {{"_from_model_config", true}};
  if (ids.bos >= 0) config["bos_token_id"] = ids.bos;
  if (ids.eos >= 0) config["eos_token_id"] = ids.eos;
  return config.dump(2) + "\n";
}

}  // namespace shoal
