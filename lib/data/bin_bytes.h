// The bytes of a .bin, which may lie in several files one after the other. Nothing is copied or joined: the
// files are mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/mapped_file.h"

namespace shoal {

class BinBytes {
 public:
  explicit BinBytes(const std::vector<std::string>& paths);  // at least one; throws UserError

  int64_t size() const { return first_.back(); }
  size_t num_files() const { return files_.size(); }
  // The file that holds a byte, and the byte's place in it: "set-00001-of-00002.bin: byte 17".
  std::string place_of(int64_t byte) const;

  // Bytes [first, first + count), which must exist: in place if one file holds them all, else copied to
  // scratch.
  std::span<const std::byte> at(int64_t first, int64_t count, std::vector<std::byte>& scratch) const;

 private:
  size_t file_of(int64_t byte) const;

  std::vector<std::unique_ptr<MappedFile>> files_;
  std::vector<int64_t> first_;  // first byte of each file, and the size
};

}  // namespace shoal
