// Hugging Face folders for tests: those of tests/golden/hf, and others with one thing changed.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_writer.h"
#include "hf/folder.h"
#include "temp_folder.h"

namespace shoal::test {

inline std::string golden_folder(const std::string& name) {
  return SHOAL_SOURCE_DIR "/tests/golden/hf/" + name;
}

inline std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline nlohmann::json read_json(const std::string& path) {
  return nlohmann::json::parse(read_text(path));
}

// A tensor's type, shape and bytes as one text, by name, of a file or of all files of a folder.
inline std::map<std::string, std::string> tensor_bytes(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& item : std::filesystem::directory_iterator(folder)) {
    const std::string name = item.path().filename();
    if (!name.starts_with("model") || !name.ends_with(".safetensors")) continue;
    const std::string bytes = read_text(item.path());
    const SafetensorsFile file(item.path());
    for (const SafetensorsEntry& entry : file.entries()) {
      all[entry.name] = entry.dtype + nlohmann::json(entry.shape).dump() +
                        bytes.substr(size_t(entry.offset), size_t(entry.bytes));
    }
  }
  return all;
}

// A copy of a golden folder that a test may spoil.
class SpoiltFolder {
 public:
  explicit SpoiltFolder(const std::string& golden) : path_(temp_ / golden) {
    std::filesystem::copy(golden_folder(golden), path_);
  }
  const std::string& path() const { return path_; }
  std::string out() const { return temp_ / "out"; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  void set(const std::string& key, const nlohmann::json& value,
           const std::string& file = "config.json") const {
    nlohmann::json config = read_json(*this / file);
    config[key] = value;
    write_text(*this / file, config.dump());
  }
  void erase(const std::string& key) const {
    nlohmann::json config = read_json(*this / "config.json");
    config.erase(key);
    write_text(*this / "config.json", config.dump());
  }
  // Writes model.safetensors anew: change(entries) renames, drops or adds; bytes follow the entries' old
  // names.
  template <typename Change>
  void rewrite_tensors(Change change) const {
    std::map<std::string, std::vector<char>> bytes;
    std::vector<SafetensorsEntry> entries;
    {
      const std::string text = read_text(*this / "model.safetensors");
      const SafetensorsFile file(*this / "model.safetensors");
      entries = file.entries();
      for (const SafetensorsEntry& e : entries) {
        const auto begin = text.begin() + e.offset;
        bytes[e.name] = {begin, begin + e.bytes};
      }
    }
    change(entries, bytes);
    SafetensorsWriter writer(*this / "model.safetensors", entries);
    for (const SafetensorsEntry& e : entries) writer.append(bytes.at(e.name).data(), e.bytes);
    writer.finish();
  }

 private:
  TempFolder temp_;
  std::string path_;
};

}  // namespace shoal::test
