// A GPU as a device, with one stream. The one implementation so far is the emulator's
// (emulated/gpu_device.cpp).
#pragma once

#include <memory>
#include <string>

#include "device/device.h"
#include "device/gpu/stream.h"

namespace shoal {

class GpuDevice final : public Device {
 public:
  GpuDevice();

  std::string name() const override { return "gpu"; }
  using Device::allocate;
  std::shared_ptr<void> allocate(int64_t bytes, Lifetime lifetime) override;
  MemoryUse memory() const override;
  void release_cache() override;
  void to_host(void* host, const void* device, int64_t bytes) override;
  void to_device(void* device, const void* host, int64_t bytes) override;
  void synchronize() override;

  gpu::Stream stream() const { return {}; }

 private:
  std::shared_ptr<MemoryUse> use_;  // shared with every block handed out: a tensor may outlive its device
};

}  // namespace shoal
