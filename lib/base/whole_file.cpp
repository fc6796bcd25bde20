#include "base/whole_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace shoal {

WholeFile::WholeFile(std::string path) : path_(std::move(path)), out_(path_ + ".part", std::ios::binary) {}

void WholeFile::finish() {
  out_.close();
  std::error_code error;
  if (out_) std::filesystem::rename(path_ + ".part", path_, error);
  if (!out_ || error)
    runtime_failure("cannot write {}: {}", path_, error ? error.message() : std::strerror(errno));
}

void write_whole_file(const std::string& path, std::string_view text) {
  WholeFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace shoal
