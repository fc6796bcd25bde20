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

  // For random reads: the system then reads what is touched, or fetched, and not its surroundings.
  void expect_random_reads() const;
  // Starts reading bytes [first, first + count) from the disk, in one go.
  void fetch(size_t first, size_t count) const;
  // Takes bytes [first, first + count) out of this process's memory; they are read from the file again when
  // touched. For passes over files larger than memory should hold.
  void release(size_t first, size_t count) const;

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace shoal
