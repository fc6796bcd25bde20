// Keeps freed blocks of host memory for reuse: a training step asks for the same sizes again and again, and
// fresh pages cost more to fault in and clear than most kernels take to fill them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "device/device.h"

namespace shoal {

// Thread-safe. Blocks are 64-byte aligned; those of 2 MiB and more lie on 2 MiB and ask for huge pages.
class BlockCache {
 public:
  struct Block {
    void* data = nullptr;
    int64_t size = 0;  // the request rounded up to a size class
  };

  BlockCache() = default;
  ~BlockCache() { release(); }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  Block take(int64_t bytes);  // throws RuntimeFailure when the system has none left
  void give_back(const Block& block);
  void release();  // returns the cached blocks to the system
  MemoryUse use() const;

 private:
  void release_locked();

  mutable std::mutex mutex_;
  std::multimap<int64_t, void*> free_;
  MemoryUse use_;
};

}  // namespace shoal
