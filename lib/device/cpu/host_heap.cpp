#include "device/cpu/host_heap.h"

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>

#include "base/error.h"

namespace shoal {
namespace {

constexpr int64_t alignment = 64;
constexpr int64_t page = 4096;
constexpr int64_t huge_page = int64_t{2} << 20;
constexpr int64_t backing_step = int64_t{32} << 20;

int64_t round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

int64_t system_memory() {
  struct sysinfo info {};
  sysinfo(&info);
  return static_cast<int64_t>(info.totalram + info.totalswap) * static_cast<int64_t>(info.mem_unit);
}

}  // namespace

HostHeap::HostHeap() {
  // As much address space as the machine has memory, or what a limit of the process leaves.
  capacity_ = round_up(system_memory(), huge_page);
  void* start = MAP_FAILED;
  while (start == MAP_FAILED && capacity_ > huge_page) {
    start = mmap(nullptr, static_cast<size_t>(capacity_ + huge_page), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) capacity_ = round_up(capacity_ / 2, huge_page);
  }
  if (start == MAP_FAILED) runtime_failure("out of memory: no address space is left for tensors");
  // On a huge page; what lies before and behind is not used, and costs nothing.
  const auto address = reinterpret_cast<uintptr_t>(start);
  base_ = static_cast<char*>(start) + (huge_page - static_cast<int64_t>(address % huge_page)) % huge_page;
  const auto before = static_cast<size_t>(base_ - static_cast<char*>(start));
  if (before > 0) munmap(start, before);
  munmap(base_ + capacity_, static_cast<size_t>(huge_page) - before);
  // Advice only: without huge pages the memory works the same.
  madvise(base_, static_cast<size_t>(capacity_), MADV_HUGEPAGE);
  free_.emplace(0, capacity_);
}

HostHeap::~HostHeap() {
  munmap(base_, static_cast<size_t>(capacity_));
}

int64_t HostHeap::lowest(int64_t size) const {
  for (const auto& [offset, length] : free_) {
    if (length >= size) return offset;
  }
  return -1;
}

int64_t HostHeap::highest_below_top(int64_t size) const {
  for (auto span = free_.rbegin(); span != free_.rend(); ++span) {
    const auto [offset, length] = *span;
    if (length >= size && offset + length < capacity_) return offset + length - size;
  }
  return -1;
}

// Takes the bytes from the free span that holds them.
void HostHeap::cut_out(int64_t offset, int64_t size) {
  const auto span = std::prev(free_.upper_bound(offset));
  const auto [begin, length] = *span;
  free_.erase(span);
  if (begin < offset) free_.emplace(begin, offset - begin);
  if (offset + size < begin + length) free_.emplace(offset + size, begin + length - offset - size);
}

void HostHeap::back_with_memory(int64_t end) {
  if (end <= backed_) return;
  const int64_t wanted = std::min(round_up(end, backing_step), capacity_);
  if (mprotect(base_ + backed_, static_cast<size_t>(wanted - backed_), PROT_READ | PROT_WRITE) != 0) {
    runtime_failure("out of memory: the system refuses {:.1f} MiB more, with {:.1f} MiB in use",
                    double(wanted - backed_) / (1 << 20), double(use_.current) / (1 << 20));
  }
  backed_ = wanted;
}

HostHeap::Block HostHeap::take(int64_t bytes, Lifetime lifetime) {
  const std::lock_guard lock(mutex_);
  int64_t offset = -1, size = bytes;
  if (bytes <= capacity_) {
    size = round_up(std::max(bytes, int64_t{1}), alignment);
    if (lifetime == Lifetime::lasting) offset = highest_below_top(size);
    if (offset < 0) offset = lowest(size);
  }
  if (offset < 0) {
    runtime_failure("out of memory: {:.1f} MiB were asked for, with {:.1f} MiB in use",
                    double(bytes) / (1 << 20), double(use_.current) / (1 << 20));
  }
  back_with_memory(offset + size);
  cut_out(offset, size);
  use_.current += size;
  use_.peak = std::max(use_.peak, use_.current);
  use_.reserved = std::max(use_.reserved, offset + size);
  return {base_ + offset, size};
}

void HostHeap::give_back(const Block& block) {
  const std::lock_guard lock(mutex_);
  use_.current -= block.size;
  int64_t offset = static_cast<char*>(block.data) - base_, length = block.size;
  const auto after = free_.lower_bound(offset);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      length += before->second;
      free_.erase(before);
    }
  }
  if (after != free_.end() && after->first == offset + length) {
    length += after->second;
    free_.erase(after);
  }
  free_.emplace(offset, length);
}

void HostHeap::release() {
  const std::lock_guard lock(mutex_);
  use_.reserved = 0;
  for (const auto& [offset, length] : free_) {
    const int64_t begin = round_up(offset, page), end = std::min(offset + length, backed_) / page * page;
    if (begin < end) madvise(base_ + begin, static_cast<size_t>(end - begin), MADV_DONTNEED);
    // The last free span reaches the end of the range, unless every byte of it is taken.
    if (offset + length == capacity_) use_.reserved = offset;
  }
}

MemoryUse HostHeap::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

}  // namespace shoal
