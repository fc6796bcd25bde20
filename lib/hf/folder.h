// A Hugging Face model folder: config.json, and the weights in model.safetensors or in shards that
// model.safetensors.index.json lists.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "tensor/view.h"

namespace shoal {

class HfFolder {
 public:
  // Throws UserError that names the file: no config.json or weights, a damaged index or shard, a shard that
  // the index places outside the folder, a tensor that is not where the index says or that it does not list.
  explicit HfFolder(const std::string& path);

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  bool has_file(const std::string& name) const;
  std::string text(const std::string& name) const;  // of a small file; throws UserError

  std::vector<std::string> tensors() const;                       // all names, sorted
  const SafetensorsEntry* find(const std::string& tensor) const;  // null if there is none
  // The values as floats; one tensor at a time is held in memory. The tensor must be there.
  std::vector<float> floats(const std::string& tensor) const;

 private:
  void open_index();

  std::string path_;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> shards_;  // by file name
  std::map<std::string, const SafetensorsFile*> place_;             // by tensor
};

constexpr const char* hf_config_name = "config.json";
constexpr const char* hf_weights_name = "model.safetensors";
constexpr const char* hf_index_name = "model.safetensors.index.json";

}  // namespace shoal
