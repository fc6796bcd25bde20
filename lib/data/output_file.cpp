#include "data/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace shoal {

namespace {
constexpr size_t kBufferBytes = 1 << 20;
}

OutputFile::OutputFile(const std::string& path)
    : path_(path), temporary_(fmt::format("{}.tmp-{}", path, ::getpid())) {
  fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("cannot be created");
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void OutputFile::fail(const char* what) const {
  const std::string reason = std::strerror(errno);
  throw RuntimeFailure(Problem{fmt::format("{}: {}", what, reason), path_, "", "", ""});
}

void OutputFile::write(const void* data, size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  buffer_.insert(buffer_.end(), from, from + bytes);
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written");
    done += size_t(n);
  }
  buffer_.clear();
}

void OutputFile::write_at(int64_t offset, const void* data, size_t bytes) {
  flush();
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pwrite(fd_, from, bytes, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written");
    from += n, offset += n, bytes -= size_t(n);
  }
}

void OutputFile::read_at(int64_t offset, void* data, size_t bytes) {
  flush();
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pread(fd_, to, bytes, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("cannot be read back");
    to += n, offset += n, bytes -= size_t(n);
  }
}

void OutputFile::sync() {
  flush();
  if (::fsync(fd_) != 0) fail("cannot be synced");
}

void OutputFile::publish() {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed to");
  ::close(fd_);
  fd_ = -1;
}

void sync_folder_of(const std::string& path) {
  auto folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);  // some file systems cannot sync a folder; the rename itself is done
  ::close(fd);
}

}  // namespace shoal
