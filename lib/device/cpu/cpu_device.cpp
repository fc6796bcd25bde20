#include "device/cpu/cpu_device.h"

#include <cstring>

namespace shoal {

std::shared_ptr<void> CpuDevice::allocate(int64_t bytes, Lifetime lifetime) {
  const HostHeap::Block block = heap_->take(bytes, lifetime);
  return {block.data, [heap = heap_, block](void*) { heap->give_back(block); }};
}

void CpuDevice::to_host(void* host, const void* device, int64_t bytes) {
  if (bytes > 0) std::memcpy(host, device, static_cast<size_t>(bytes));  // an empty tensor's pointer is null
}

void CpuDevice::to_device(void* device, const void* host, int64_t bytes) {
  if (bytes > 0) std::memcpy(device, host, static_cast<size_t>(bytes));
}

}  // namespace shoal
