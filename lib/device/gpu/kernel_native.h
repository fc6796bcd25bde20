// The names of kernel.h for nvcc, and for hipcc: gfx90a and its warps of 64 lanes.
#pragma once

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#else
#include <cuda_runtime.h>
#endif

#include "device/gpu/stream.h"

#define SHOAL_SHARED(type, name, count) __shared__ type name[count]
#define SHOAL_DYNAMIC_SHARED(type, name)                      \
  extern __shared__ __align__(16) unsigned char name##_raw[]; \
  type* const name = reinterpret_cast<type*>(name##_raw)

namespace shoal::gpu {

#if defined(__HIPCC__)

inline constexpr int warp_size = 64;

template <typename T>
__device__ inline T shuffle(T value, int lane) {
  return __shfl(value, lane);
}
template <typename T>
__device__ inline T shuffle_xor(T value, int mask) {
  return __shfl_xor(value, mask);
}
__device__ inline bool any(bool vote) {
  return __any(vote) != 0;
}
__device__ inline bool all(bool vote) {
  return __all(vote) != 0;
}
__device__ inline void warp_sync() {
  __builtin_amdgcn_wave_barrier();
}

#else

inline constexpr int warp_size = 32;

template <typename T>
__device__ inline T shuffle(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}
template <typename T>
__device__ inline T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
__device__ inline bool any(bool vote) {
  return __any_sync(0xffffffffu, vote) != 0;
}
__device__ inline bool all(bool vote) {
  return __all_sync(0xffffffffu, vote) != 0;
}
__device__ inline void warp_sync() {
  __syncwarp();
}

#endif

template <typename... Parameters, typename... Args>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, Stream stream,
            Args... args) {
  kernel<<<grid, block, shared_bytes, stream>>>(args...);
}

}  // namespace shoal::gpu
