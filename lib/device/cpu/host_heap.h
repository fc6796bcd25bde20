// Host memory for tensors: one range of addresses in which passing blocks lie as low as they fit, and lasting
// ones as high as they fit below the top. Neighbouring free blocks join, so what the activations of a step
// leave serves its gradients and the next step, whatever the sizes; pages stay with the process, because
// fresh ones cost more to fault in and clear than most kernels take to fill them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "device/device.h"

namespace shoal {

// Thread-safe. Blocks are 64-byte aligned.
class HostHeap {
 public:
  struct Block {
    void* data = nullptr;
    int64_t size = 0;  // the request rounded up
  };

  HostHeap();
  ~HostHeap();
  HostHeap(const HostHeap&) = delete;
  HostHeap& operator=(const HostHeap&) = delete;

  Block take(int64_t bytes, Lifetime lifetime);  // throws RuntimeFailure when there is none left
  void give_back(const Block& block);
  void release();  // returns the pages of free blocks to the system
  MemoryUse use() const;

 private:
  using Spans = std::map<int64_t, int64_t>;  // size by offset

  // The place for a block, or -1.
  int64_t lowest(int64_t size) const;
  int64_t highest_below_top(int64_t size) const;
  void cut_out(int64_t offset, int64_t size);
  void back_with_memory(int64_t end);

  mutable std::mutex mutex_;
  char* base_ = nullptr;
  int64_t capacity_ = 0;  // bytes of address space
  int64_t backed_ = 0;    // of them, from the start on, readable and writable
  Spans free_;            // no two adjacent
  MemoryUse use_;         // reserved is the end of the highest block since the last release()
};

}  // namespace shoal
