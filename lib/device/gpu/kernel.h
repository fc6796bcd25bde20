// What every GPU source includes: one name for each thing of CUDA, HIP and the emulator, so that the same
// kernels compile with nvcc, hipcc and, for a machine without a GPU, with the host's compiler.
//
// Kernels declare shared memory with SHOAL_SHARED(type, name, count) or SHOAL_DYNAMIC_SHARED(type, name),
// take warps as a whole (every lane reaches every shuffle, vote and warp_sync), and are started with
// launch().
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#include "device/gpu/kernel_native.h"
#else
#include "device/gpu/emulated/kernel_emulated.h"
#endif
