#include "device/cpu/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/error.h"

namespace shoal {
namespace {

constexpr int64_t small_alignment = 64;
constexpr int64_t huge_page = int64_t{2} << 20;

// Eight classes for each power of two: at most an eighth of a block is wasted. Large blocks are whole huge
// pages.
int64_t size_class(int64_t bytes) {
  if (bytes > huge_page) {
    return (bytes + huge_page - 1) / huge_page * huge_page;
  }
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(bytes, int64_t{1}))));
  const int64_t step = std::max(power / 16, small_alignment);
  return (std::max(bytes, int64_t{1}) + step - 1) / step * step;
}

void* system_allocate(int64_t size) {
  const bool huge = size >= huge_page;
  void* data =
      std::aligned_alloc(static_cast<size_t>(huge ? huge_page : small_alignment), static_cast<size_t>(size));
  // Advice only: without huge pages the memory works the same.
  if (data != nullptr && huge) madvise(data, static_cast<size_t>(size), MADV_HUGEPAGE);
  return data;
}

}  // namespace

BlockCache::Block BlockCache::take(int64_t bytes) {
  const int64_t size = size_class(bytes);
  const std::lock_guard lock(mutex_);
  Block block;
  // A cached block may be up to an eighth larger than the class.
  const auto found = free_.lower_bound(size);
  if (found != free_.end() && found->first - size <= size / 8) {
    block = {found->second, found->first};
    free_.erase(found);
  } else {
    block = {system_allocate(size), size};
    if (block.data == nullptr && !free_.empty()) {
      release_locked();
      block.data = system_allocate(size);
    }
    if (block.data == nullptr) {
      runtime_failure("out of memory: {:.1f} MiB were asked for, with {:.1f} MiB in use",
                      double(bytes) / (1 << 20), double(use_.current) / (1 << 20));
    }
    use_.reserved += size;
  }
  use_.current += block.size;
  use_.peak = std::max(use_.peak, use_.current);
  return block;
}

void BlockCache::give_back(const Block& block) {
  const std::lock_guard lock(mutex_);
  free_.emplace(block.size, block.data);
  use_.current -= block.size;
}

void BlockCache::release() {
  const std::lock_guard lock(mutex_);
  release_locked();
}

void BlockCache::release_locked() {
  for (const auto& [size, data] : free_) {
    std::free(data);
    use_.reserved -= size;
  }
  free_.clear();
}

MemoryUse BlockCache::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

}  // namespace shoal
