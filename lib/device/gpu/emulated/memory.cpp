#include "device/gpu/emulated/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace shoal::emulated {
namespace {

constexpr size_t region = size_t{8} << 30;  // addresses, not memory: pages come when they are touched
constexpr size_t page = 4096;
constexpr size_t arena_size =
    256 << 10;                      // of shared memory: what the largest GPU offers, with room for guards
constexpr size_t granule_size = 2;  // bytes a cell of the shadow stands for: the smallest element type
constexpr uint8_t addressable = 1, initialised = 2;

// Stand-ins for a thread: several of one block, several of several blocks; and the mark of an atomic
// operation.
constexpr uint32_t many_of_block = Memory::block_stride - 1;
constexpr uint32_t many_blocks = 0x7fffffffu;
constexpr uint32_t atomic_mark = 0x80000000u;

void* reserve(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return p;
}

uint32_t block_of(uint32_t thread) {
  return (thread & ~atomic_mark) / Memory::block_stride;
}

std::string thread_name(uint32_t thread) {
  const uint32_t id = thread & ~atomic_mark;
  if (id == many_blocks) return "threads of several blocks";
  const std::string block = "block " + std::to_string(block_of(id));
  const uint32_t index = id % Memory::block_stride;
  return index == many_of_block ? "several threads of " + block
                                : "thread " + std::to_string(index) + " of " + block;
}

}  // namespace

Memory& Memory::instance() {
  static Memory memory;
  return memory;
}

Memory::Memory()
    : base_(static_cast<unsigned char*>(reserve(region))),
      flags_(static_cast<uint8_t*>(reserve(region / granule_size))),
      cells_(static_cast<Cell*>(reserve(region / granule_size * sizeof(Cell)))),
      arena_(static_cast<unsigned char*>(base_)) {
  next_ = arena_size + page;
}

void* Memory::allocate(size_t bytes) {
  const size_t span = (bytes + page - 1) / page * page + page;
  if (span > region - next_) throw std::bad_alloc();
  unsigned char* data = base_ + next_;
  next_ += span;
  held_ += bytes;
  blocks_[data] = bytes;
  set_flags(data, bytes, addressable);
  return data;
}

void Memory::release(void* data) {
  const auto block = blocks_.find(static_cast<unsigned char*>(data));
  if (block == blocks_.end()) throw Fault("what is released was not allocated, or was released before");
  const size_t bytes = block->second;
  set_flags(data, bytes, 0);
  madvise(data, (bytes + page - 1) / page * page, MADV_DONTNEED);
  held_ -= bytes;
  blocks_.erase(block);
}

void Memory::set_flags(const void* data, size_t bytes, uint8_t flags) {
  const auto offset = static_cast<size_t>(static_cast<const unsigned char*>(data) - base_);
  std::memset(flags_ + offset / granule_size, flags, (bytes + granule_size - 1) / granule_size);
}

void Memory::check_host(const void* data, size_t bytes, uint8_t needed) const {
  const auto offset = static_cast<size_t>(static_cast<const unsigned char*>(data) - base_);
  if (offset >= region) throw Fault("a copy touches memory that is not the device's");
  for (size_t at = offset / granule_size; at < (offset + bytes + granule_size - 1) / granule_size; ++at) {
    if ((flags_[at] & needed) == needed) continue;
    const bool outside = (flags_[at] & addressable) == 0;
    throw Fault(std::string(outside ? "out-of-bounds copy: " : "copy of uninitialised memory: ") +
                place(base_ + at * granule_size));
  }
}

void Memory::host_writes(const void* data, size_t bytes) {
  if (bytes == 0) return;
  check_host(data, bytes, addressable);
  set_flags(data, bytes, addressable | initialised);
}

void Memory::host_reads(const void* data, size_t bytes) const {
  if (bytes > 0) check_host(data, bytes, addressable | initialised);
}

void Memory::access(const void* data, size_t bytes, AccessKind kind, const Actor& actor) {
  const auto offset = static_cast<size_t>(static_cast<const unsigned char*>(data) - base_);
  if (offset >= region) return;  // the thread's own stack, constants
  const bool shared = offset < arena_size;
  const size_t end = (offset + bytes + granule_size - 1) / granule_size;
  for (size_t at = offset / granule_size; at < end; ++at) {
    if (!check(at, kind, actor, shared)) return;
  }
}

bool Memory::check(size_t at, AccessKind kind, const Actor& actor, bool shared) {
  const auto report = [&](const char* what, uint32_t other) {
    std::string text = std::string(what) + " by " + thread_name(actor.thread);
    if (other != actor.thread) text += " and " + thread_name(other);
    fault(text + ": " + place(base_ + at * granule_size));
    return false;
  };
  const bool write = kind == AccessKind::write;
  if ((flags_[at] & addressable) == 0)
    return report(write ? "out-of-bounds write" : "out-of-bounds read", actor.thread);
  if (write) flags_[at] |= initialised;
  if ((flags_[at] & initialised) == 0) return report("read of uninitialised memory", actor.thread);

  Cell& cell = cells_[at];
  const bool both_atomic = kind == AccessKind::atomic && (cell.write.thread & atomic_mark) != 0;
  if (!both_atomic && !ordered(cell.write, actor, shared))
    return report("race of a write and an access", cell.write.thread);
  if (kind != AccessKind::read) {
    if (!ordered(cell.read, actor, shared)) return report("race of a read and a write", cell.read.thread);
    cell.write = {now_, kind == AccessKind::atomic ? actor.thread | atomic_mark : actor.thread};
    return true;
  }
  uint32_t reader = actor.thread;
  if (!ordered(cell.read, actor, shared)) {
    const uint32_t block = block_of(actor.thread);
    const bool alone = cell.read.thread != many_blocks && block_of(cell.read.thread) == block;
    reader = alone ? block * block_stride + many_of_block : many_blocks;
  }
  cell.read = {now_, reader};
  return true;
}

bool Memory::ordered(const Access& earlier, const Actor& actor, bool shared) const {
  if (earlier.time < (shared ? block_start_ : kernel_start_)) return true;
  const uint32_t thread = earlier.thread & ~atomic_mark;
  if (thread == actor.thread) return true;
  if (thread == many_blocks || block_of(thread) != block_of(actor.thread)) return false;
  if (earlier.time < actor.block_sync) return true;
  const bool same_warp = thread % block_stride / 32 == actor.thread % block_stride / 32;
  return same_warp && earlier.time < actor.warp_sync;
}

std::string Memory::place(const void* data) const {
  const auto* p = static_cast<const unsigned char*>(data);
  if (p < base_ + arena_size) return "byte " + std::to_string(p - arena_) + " of shared memory";
  auto after = blocks_.upper_bound(p);
  if (after == blocks_.begin()) return "before everything allocated";
  --after;
  return "byte " + std::to_string(p - after->first) + " of a block of " + std::to_string(after->second);
}

void Memory::fault(std::string text) {
  if (fault_.empty()) fault_ = std::move(text);
}

std::string Memory::take_fault() {
  return std::exchange(fault_, {});
}

void* Memory::begin_block(size_t dynamic_bytes) {
  constexpr size_t guard = 64;
  block_start_ = tick();
  set_flags(arena_, std::max(arena_used_, guard), 0);
  arrays_.clear();
  set_flags(arena_, dynamic_bytes, addressable);
  arena_used_ = (dynamic_bytes + guard - 1) / guard * guard + guard;
  return arena_;
}

void* Memory::shared_array(const void* id, size_t bytes) {
  constexpr size_t guard = 64;
  auto [at, inserted] = arrays_.try_emplace(id, nullptr);
  if (!inserted) return at->second;
  const size_t span = (bytes + guard - 1) / guard * guard + guard;
  if (arena_used_ + span > arena_size) throw Fault("a block asks for more shared memory than a device has");
  at->second = arena_ + arena_used_;
  arena_used_ += span;
  set_flags(at->second, bytes, addressable);
  return at->second;
}

}  // namespace shoal::emulated
