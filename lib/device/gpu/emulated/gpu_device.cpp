// The device of the emulator. Nothing is cached here: an address that is never used twice tells who reads
// memory that was given back.
#include "device/gpu/gpu_device.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/error.h"
#include "device/gpu/emulated/memory.h"

namespace shoal {

using emulated::Memory;

GpuDevice::GpuDevice() : use_(std::make_shared<MemoryUse>()) {}

std::shared_ptr<void> GpuDevice::allocate(int64_t bytes, Lifetime) {
  if (bytes == 0) return {};
  void* data = nullptr;
  try {
    data = Memory::instance().allocate(static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
    throw RuntimeFailure("the emulated device has no room for " + std::to_string(bytes) + " bytes more");
  }
  use_->current += bytes;
  use_->reserved = use_->current;
  use_->peak = std::max(use_->peak, use_->current);
  return {data, [use = use_, bytes](void* p) {
            use->current -= bytes;
            use->reserved = use->current;
            Memory::instance().release(p);
          }};
}

MemoryUse GpuDevice::memory() const {
  return *use_;
}

void GpuDevice::release_cache() {}

void GpuDevice::to_host(void* host, const void* device, int64_t bytes) {
  if (bytes == 0) return;
  Memory::instance().host_reads(device, static_cast<size_t>(bytes));
  std::memcpy(host, device, static_cast<size_t>(bytes));
}

void GpuDevice::to_device(void* device, const void* host, int64_t bytes) {
  if (bytes == 0) return;
  Memory::instance().host_writes(device, static_cast<size_t>(bytes));
  std::memcpy(device, host, static_cast<size_t>(bytes));
}

void GpuDevice::synchronize() {}

}  // namespace shoal
