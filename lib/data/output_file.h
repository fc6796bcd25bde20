// A file being written under a temporary name, published by rename.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

class OutputFile {
 public:
  // Creates path.tmp-<pid>. Every function throws RuntimeFailure naming the file and the system's reason.
  explicit OutputFile(const std::string& path);
  ~OutputFile();  // removes the temporary unless it was published
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, size_t bytes);  // appends, buffered
  void write_at(int64_t offset, const void* data, size_t bytes);
  void read_at(int64_t offset, void* data, size_t bytes);
  void sync();
  const std::string& temporary_path() const { return temporary_; }
  void publish();  // after sync(): renames to the final name

 private:
  void flush();
  [[noreturn]] void fail(const char* what) const;

  std::string path_, temporary_;
  int fd_ = -1;
  std::vector<std::byte> buffer_;
};

// Makes renames in the folder of path durable.
void sync_folder_of(const std::string& path);

}  // namespace shoal
