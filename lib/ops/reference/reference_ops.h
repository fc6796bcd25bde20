// The float64 reference as a backend, for the tests of every other backend and of the layers.
// Beyond the contract of ops.h it takes f64 views wherever f32 or bf16 stands, and any strides.
#pragma once

#include <memory>

#include "ops/ops.h"

namespace shoal {

std::unique_ptr<Ops> make_reference_ops(Device& device);  // a device whose memory the host can address

}  // namespace shoal
