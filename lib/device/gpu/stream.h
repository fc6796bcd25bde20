// A queue of work on the device, by the name of the back end that is built.
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime_api.h>
#elif defined(__HIPCC__)
#include <hip/hip_runtime_api.h>
#endif

namespace shoal::gpu {

#if defined(__CUDACC__)
using Stream = cudaStream_t;
#elif defined(__HIPCC__)
using Stream = hipStream_t;
#else
using Stream = void*;  // of the emulator: work is done when its call returns
#endif

}  // namespace shoal::gpu
