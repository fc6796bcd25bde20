// The operations on a GPU, or on the emulator.
#pragma once

#include <memory>

#include "device/gpu/gpu_device.h"
#include "ops/ops.h"

namespace shoal {

std::unique_ptr<Ops> make_gpu_ops(GpuDevice& device);

}  // namespace shoal
