#include "data/bin_bytes.h"

#include <algorithm>

#include <fmt/format.h>
#include "base/check.h"

namespace shoal {

BinBytes::BinBytes(const std::vector<std::string>& paths) : first_{0} {
  SHOAL_CHECK(!paths.empty());
  for (const std::string& path : paths) {
    files_.push_back(std::make_unique<MappedFile>(path));
    files_.back()->expect_random_reads();  // rows are shuffled
    first_.push_back(first_.back() + int64_t(files_.back()->bytes().size()));
  }
}

size_t BinBytes::file_of(int64_t byte) const {
  const auto after = std::upper_bound(first_.begin(), first_.end() - 1, byte);
  return size_t(after - first_.begin()) - 1;
}

std::string BinBytes::place_of(int64_t byte) const {
  const size_t file = file_of(byte);
  return fmt::format("{}: byte {}", files_[file]->path(), byte - first_[file]);
}

std::span<const std::byte> BinBytes::at(int64_t first, int64_t count, std::vector<std::byte>& scratch) const {
  SHOAL_CHECK(first >= 0 && count >= 0 && first + count <= size());
  if (count == 0) return {};
  size_t file = file_of(first);
  if (first + count <= first_[file + 1]) {
    files_[file]->fetch(size_t(first - first_[file]), size_t(count));
    return files_[file]->bytes().subspan(size_t(first - first_[file]), size_t(count));
  }
  scratch.clear();
  while (int64_t(scratch.size()) < count) {
    const auto bytes = files_[file]->bytes().subspan(size_t(first - first_[file]));
    const size_t take = std::min(bytes.size(), size_t(count) - scratch.size());
    scratch.insert(scratch.end(), bytes.begin(), bytes.begin() + ptrdiff_t(take));
    first = first_[++file];
  }
  return scratch;
}

}  // namespace shoal
