// A file that appears whole or not at all: it is written under a temporary name, synced, renamed, and the
// folder is synced, so that after a kill or a power cut there is the old file, or the new one, or none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

// What temporary names end with; such a file is the leftover of a writer that was killed.
constexpr std::string_view pending_suffix = ".part";

class PendingFile {
 public:
  // The folder must exist. Nothing is created yet: the owner creates and writes temporary().
  explicit PendingFile(std::string path);
  ~PendingFile();  // removes the temporary file unless publish() succeeded
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& temporary() const { return temporary_; }

  // Throws RuntimeFailure; an older file of the same name is then still there.
  void publish();

 private:
  std::string path_, temporary_;
  bool published_ = false;
};

// An owned file descriptor. Every call throws a RuntimeFailure that names the path and the cause.
class File {
 public:
  File(const std::string& path, int flags);  // as for open(2); new files get mode 0666 less the umask
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int fd() const { return fd_; }
  int64_t size() const;
  void read_at(void* data, int64_t bytes, int64_t offset) const;  // an early end is a failure
  void write_at(const void* data, int64_t bytes, int64_t offset) const;
  void sync() const;

 private:
  std::string path_;
  int fd_;
};

// "cannot write PATH: No space left on device", with a hint where there is something to do.
[[noreturn]] void io_failure(std::string_view action, const std::string& path, int error_number);

}  // namespace shoal
