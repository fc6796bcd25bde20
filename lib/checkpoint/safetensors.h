// The safetensors format: a u64 with the length of a JSON header, the header, the tensors' bytes;
// little-endian. https://github.com/huggingface/safetensors (README, "Format").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/view.h"

namespace shoal {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;           // as written: "F32", "BF16", "F16", "I64", "BOOL", ...
  std::vector<int64_t> shape;  // the slowest dim first
  int64_t offset = 0;          // of the first byte, from the start of the file
  int64_t bytes = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        // in the order of their bytes
  std::map<std::string, std::string> metadata;  // "__metadata__"
};

// Checks everything that the format promises: the header lies within the file and is one JSON object without
// duplicate names, sizes agree with types and shapes, and the tensors cover the rest of the file without gap
// or overlap. Throws a UserError that names the file (`name`) and the tensor.
SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& name);

// A file mapped into memory for reading.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);  // UserError if it is not a valid file
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  const SafetensorsEntry* find(std::string_view name) const;  // null if there is none

  // The tensor's values as they lie in the file; read-only memory. Throws a UserError if the tensor is
  // absent, has no DType here (such as F16) or too many dims, or if its bytes are not aligned to its element
  // size.
  View view(std::string_view name) const;

  // The tensor's values as floats, from F32, F64, F16, BF16 and the integer types; any alignment.
  std::vector<float> floats(std::string_view name) const;

  // Gives the memory of what has been read back; it is read again from the file when it is needed.
  void release() const;

 private:
  const SafetensorsEntry& at(std::string_view name) const;

  std::string path_;
  std::span<const std::byte> file_;
  SafetensorsHeader header_;
};

// Writes contiguous host tensors, the widest types first so that every tensor is aligned; the file appears
// whole or not at all. Throws RuntimeFailure.
void write_safetensors(const std::string& path, const std::vector<std::pair<std::string, View>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace shoal
