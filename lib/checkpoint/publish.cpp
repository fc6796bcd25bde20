#include "checkpoint/publish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace shoal {

void io_failure(std::string_view action, const std::string& path, int error_number) {
  Problem problem;
  problem.what = fmt::format("cannot {} {}: {}", action, path, std::strerror(error_number));
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      problem.hint = "free some space, or keep fewer checkpoints (checkpoint.keep_last)";
      break;
    case EROFS:
      problem.hint = "the file system is mounted read-only";
      break;
    case EACCES:
    case EPERM:
      problem.hint = "check the owner and the permissions of the file and its folder";
      break;
    default:
      break;
  }
  throw RuntimeFailure(problem);
}

File::File(const std::string& path, int flags)
    : path_(path), fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
  if (fd_ < 0) io_failure((flags & O_CREAT) ? "create" : "open", path, errno);
}

File::~File() {
  ::close(fd_);
}

int64_t File::size() const {
  struct stat status;
  if (::fstat(fd_, &status) != 0) io_failure("inspect", path_, errno);
  if (!S_ISREG(status.st_mode)) runtime_failure("{} is not a regular file", path_);
  return status.st_size;
}

void File::read_at(void* data, int64_t bytes, int64_t offset) const {
  for (int64_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(fd_, static_cast<char*>(data) + done, size_t(bytes - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) io_failure("read", path_, errno);
    if (n == 0)
      runtime_failure("{}: the file ends at byte {}, before its content does", path_, offset + done);
    done += n;
  }
}

void File::write_at(const void* data, int64_t bytes, int64_t offset) const {
  for (int64_t done = 0; done < bytes;) {
    const ssize_t n =
        ::pwrite(fd_, static_cast<const char*>(data) + done, size_t(bytes - done), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) io_failure("write", path_, errno);
    done += n;
  }
}

void File::sync() const {
  if (::fsync(fd_) != 0) io_failure("write", path_, errno);
}

PendingFile::PendingFile(std::string path)
    : path_(std::move(path)), temporary_(path_ + std::string(pending_suffix)) {}

PendingFile::~PendingFile() {
  if (!published_) ::unlink(temporary_.c_str());
}

void PendingFile::publish() {
  File(temporary_, O_RDONLY).sync();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) io_failure("rename to", path_, errno);
  published_ = true;
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  File(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY).sync();
}

}  // namespace shoal
