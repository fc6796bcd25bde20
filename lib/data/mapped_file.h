// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace shoal {

class MappedFile {
 public:
  // Throws UserError naming the file and the system's reason. An empty file maps to an empty span.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace shoal
