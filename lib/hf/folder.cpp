#include "hf/folder.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"

namespace shoal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uintmax_t max_text = 64 << 20;

// A shard must lie in the folder itself: a name with a path could read any file of this machine.
void check_shard_name(const std::string& name, const std::string& index) {
  const bool plain = !name.empty() && name.find('/') == std::string::npos &&
                     name.find('\0') == std::string::npos && name != "." && name != "..";
  if (plain) return;
  throw UserError(Problem{.what = "the index names a file that is not in the folder",
                          .where = index,
                          .value = json(name).dump(-1, ' ', true, json::error_handler_t::replace),
                          .allowed = "a file name without a path"});
}

}  // namespace

HfFolder::HfFolder(const std::string& path) : path_(path) {
  if (!fs::is_directory(path)) {
    throw UserError(Problem{
        .what = "there is no such folder", .where = path, .allowed = "the folder of a Hugging Face model"});
  }
  if (!has_file(hf_config_name))
    throw UserError(Problem{.what = "the folder has no config.json", .where = path});
  if (has_file(hf_index_name)) {
    open_index();
    return;
  }
  if (!has_file(hf_weights_name)) {
    const bool pickled = has_file("pytorch_model.bin") || has_file("pytorch_model.bin.index.json");
    throw UserError(Problem{
        .what = "the folder has no weights",
        .where = path,
        .allowed = "model.safetensors, or model.safetensors.index.json and its shards",
        .hint = pickled ? "pytorch_model.bin is a Python pickle, which is a program and not data: load "
                          "it with transformers and save it with safe_serialization=True"
                        : ""});
  }
  const auto& shard = shards_[hf_weights_name] = std::make_unique<SafetensorsFile>(file(hf_weights_name));
  for (const SafetensorsEntry& entry : shard->entries()) place_[entry.name] = shard.get();
}

void HfFolder::open_index() {
  const std::string where = file(hf_index_name);
  const json index = json::parse(text(hf_index_name), nullptr, false);
  const bool usable = index.is_object() && index.contains("weight_map") && index["weight_map"].is_object();
  if (!usable) throw UserError(Problem{.what = "the index has no weight_map", .where = where});
  for (const auto& [tensor, value] : index["weight_map"].items()) {
    if (!value.is_string())
      throw UserError(Problem{.what = "the index gives no file name", .where = where, .value = tensor});
    const std::string name = value.get<std::string>();
    check_shard_name(name, where);
    auto& shard = shards_[name];
    if (!shard) {
      if (!has_file(name))
        throw UserError(Problem{.what = "a shard of the index is not there", .where = where, .value = name});
      shard = std::make_unique<SafetensorsFile>(file(name));
    }
    if (shard->find(tensor) == nullptr) {
      throw UserError(Problem{
          .what = "a tensor is not in the shard that the index names", .where = file(name), .value = tensor});
    }
    place_[tensor] = shard.get();
  }
  for (const auto& [name, shard] : shards_) {
    for (const SafetensorsEntry& entry : shard->entries()) {
      const auto at = place_.find(entry.name);
      if (at != place_.end() && at->second == shard.get()) continue;
      throw UserError(Problem{.what = "a shard holds a tensor that the index does not place there",
                              .where = file(name),
                              .value = entry.name});
    }
  }
}

bool HfFolder::has_file(const std::string& name) const {
  std::error_code ignored;
  return fs::is_regular_file(file(name), ignored);
}

std::string HfFolder::text(const std::string& name) const {
  std::error_code error;
  if (fs::file_size(file(name), error) > max_text || error) {
    throw UserError(Problem{.what = error ? "cannot read the file" : "the file is too large for what it is",
                            .where = file(name)});
  }
  std::ostringstream text;
  text << std::ifstream(file(name), std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> HfFolder::tensors() const {
  std::vector<std::string> names;
  for (const auto& [name, shard] : place_) names.push_back(name);
  return names;
}

const SafetensorsEntry* HfFolder::find(const std::string& tensor) const {
  const auto at = place_.find(tensor);
  return at == place_.end() ? nullptr : at->second->find(tensor);
}

std::vector<float> HfFolder::floats(const std::string& tensor) const {
  const SafetensorsFile& shard = *place_.at(tensor);
  std::vector<float> values = shard.floats(tensor);
  shard.release();
  return values;
}

}  // namespace shoal
