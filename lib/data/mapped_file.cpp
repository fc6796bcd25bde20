#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace shoal {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    throw UserError(Problem{"cannot be opened: " + std::string(std::strerror(errno)), path, "", "", ""});
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    throw UserError(Problem{"is not a regular file", path, "", "", ""});
  }
  size_ = size_t(info.st_size);
  if (size_ > 0) {
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
      const std::string reason = std::strerror(errno);
      ::close(fd);
      throw UserError(Problem{"cannot be mapped: " + reason, path, "", "", ""});
    }
    data_ = static_cast<const std::byte*>(address);
  }
  ::close(fd);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

namespace {
const auto page = size_t(::sysconf(_SC_PAGESIZE));
}  // namespace

void MappedFile::expect_random_reads() const {
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), size_, MADV_RANDOM);
}

void MappedFile::fetch(size_t first, size_t count) const {
  const size_t begin = first / page * page;
  if (count > 0) ::madvise(const_cast<std::byte*>(data_) + begin, first - begin + count, MADV_WILLNEED);
}

void MappedFile::release(size_t first, size_t count) const {
  first = (first + page - 1) / page * page;
  if (data_ == nullptr || first >= size_ || count < page) return;
  ::madvise(const_cast<std::byte*>(data_) + first, std::min(count, size_ - first), MADV_DONTNEED);
}

}  // namespace shoal
