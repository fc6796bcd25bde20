// The operations on the host: a library for products of matrices, OpenMP and vector kernels for the rest.
#pragma once

#include <memory>

#include "ops/ops.h"

namespace shoal {

std::unique_ptr<Ops> make_cpu_ops(Device& device);

// The library behind matmul, with its version.
std::string cpu_gemm_name();

}  // namespace shoal
