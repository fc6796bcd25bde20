// The memory of the emulated device, with a shadow that knows of every two bytes whether a kernel may touch
// them, whether they were ever written, and who wrote and who read them last.
//
// The order of accesses. `now` counts barriers. An access comes before one of this thread when it is from
// before the kernel began, by the thread itself, by its block before the last __syncthreads that the thread
// passed, or by its warp before the last warp barrier. Two accesses in no order, one of them a plain write,
// are a race.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace shoal::emulated {

// A kernel, or the host in its name, broke a rule of the execution model.
struct Fault : std::logic_error {
  using std::logic_error::logic_error;
};

enum class AccessKind { read, write, atomic };

// Who makes an access, as far as the order of accesses goes.
struct Actor {
  uint32_t thread = 0;                     // block * block_stride + thread of the block
  uint32_t block_sync = 0, warp_sync = 0;  // `now` after its last barriers
};

class Memory {
 public:
  static constexpr uint32_t block_stride = 2048;  // more than a block has threads

  static Memory& instance();

  // Uninitialised, 256-byte aligned, a guard zone behind; addresses are not used twice, so that what was
  // given back is known as such.
  void* allocate(size_t bytes);
  void release(void* data);
  size_t bytes_held() const { return held_; }

  // The host's copies: an access outside what is allocated, or a read of what nobody wrote, is a Fault.
  void host_writes(const void* data, size_t bytes);
  void host_reads(const void* data, size_t bytes) const;

  // Access by a kernel. A fault is kept for take_fault, because nothing can be thrown from where this is
  // called.
  void access(const void* data, size_t bytes, AccessKind kind, const Actor& actor);
  std::string take_fault();
  bool faulty() const { return !fault_.empty(); }
  void fault(std::string text);

  uint32_t now() const { return now_; }
  uint32_t tick() { return ++now_; }
  void begin_kernel() { kernel_start_ = tick(); }
  // Shared memory is new for every block.
  void* begin_block(size_t dynamic_bytes);
  void* shared_array(const void* id, size_t bytes);

 private:
  struct Access {
    uint32_t time, thread;
  };
  struct Cell {
    Access write, read;
  };
  Memory();
  bool ordered(const Access& earlier, const Actor& actor, bool shared) const;
  void set_flags(const void* data, size_t bytes, uint8_t flags);
  void check_host(const void* data, size_t bytes, uint8_t needed) const;
  bool check(size_t granule, AccessKind kind, const Actor& actor, bool shared);
  std::string place(const void* data) const;

  unsigned char* base_ = nullptr;
  uint8_t* flags_ = nullptr;
  Cell* cells_ = nullptr;
  size_t next_ = 0, held_ = 0;
  std::map<const unsigned char*, size_t> blocks_;

  unsigned char* arena_ = nullptr;
  size_t arena_used_ = 0;
  std::map<const void*, void*> arrays_;

  uint32_t now_ = 1, kernel_start_ = 1, block_start_ = 1;
  std::string fault_;
};

}  // namespace shoal::emulated
