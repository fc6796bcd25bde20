// The host as a device. Its stream is the calling thread, so everything is done when a call returns.
#pragma once

#include <memory>
#include <string>

#include "device/cpu/host_heap.h"
#include "device/device.h"

namespace shoal {

class CpuDevice final : public Device {
 public:
  std::string name() const override { return "cpu"; }
  std::shared_ptr<void> allocate(int64_t bytes, Lifetime lifetime) override;
  MemoryUse memory() const override { return heap_->use(); }
  void release_cache() override { heap_->release(); }
  void to_host(void* host, const void* device, int64_t bytes) override;
  void to_device(void* device, const void* host, int64_t bytes) override;
  void synchronize() override {}

 private:
  // Shared with every block handed out: a tensor may outlive its device.
  std::shared_ptr<HostHeap> heap_ = std::make_shared<HostHeap>();
};

}  // namespace shoal
