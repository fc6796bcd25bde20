// The names of kernel.h for the host's compiler. A kernel's file is compiled with -fsanitize=thread and
// linked without its runtime: the calls that the compiler puts before every access to memory are answered by
// instrument.cpp, which is how an unchanged kernel has its accesses checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "device/gpu/stream.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define threadIdx (::shoal::emulated::thread_index())
#define blockIdx (::shoal::emulated::block_index())
#define blockDim (::shoal::emulated::block_dim())
#define gridDim (::shoal::emulated::grid_dim())
#define __syncthreads() ::shoal::emulated::sync_threads(__LINE__)

// The address of the static variable tells one array from another, in each instance of a template.
#define SHOAL_SHARED(type, name, count) \
  static char name##_id;                \
  type* const name = static_cast<type*>(::shoal::emulated::shared_array(&name##_id, sizeof(type) * (count)))
#define SHOAL_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::shoal::emulated::dynamic_shared())

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3() = default;
  dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace shoal::emulated {

inline constexpr int warp_size = 32;

const dim3& thread_index();
const dim3& block_index();
const dim3& block_dim();
const dim3& grid_dim();
void sync_threads(int line);
void sync_warp();
void* shared_array(const void* id, size_t bytes);
void* dynamic_shared();

// Posts this lane's value, waits for the warp, and reads the value of another lane. 16 bytes at most.
void exchange(const void* value, void* result, size_t bytes, int lane);
unsigned ballot(bool vote);
int lane_id();
float atomic_add(float* address, float value);
int atomic_add(int* address, int value);

// Runs every block of the grid to its end. Throws a Fault when the kernel broke a rule.
void run_grid(const dim3& grid, const dim3& block, size_t shared_bytes, const std::function<void()>& thread);

}  // namespace shoal::emulated

inline float __uint_as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint32_t __float_as_uint(float value) {
  return std::bit_cast<uint32_t>(value);
}

inline float atomicAdd(float* address, float value) {
  return shoal::emulated::atomic_add(address, value);
}
inline int atomicAdd(int* address, int value) {
  return shoal::emulated::atomic_add(address, value);
}

namespace shoal::gpu {

using emulated::warp_size;

template <typename T>
T shuffle(T value, int lane) {
  static_assert(sizeof(T) <= 16);
  T result;
  emulated::exchange(&value, &result, sizeof(T), lane % warp_size);
  return result;
}
template <typename T>
T shuffle_xor(T value, int mask) {
  return shuffle(value, emulated::lane_id() ^ mask);
}
inline bool any(bool vote) {
  return emulated::ballot(vote) != 0;
}
inline bool all(bool vote) {
  return emulated::ballot(vote) == 0xffffffffu;
}
inline void warp_sync() {
  emulated::sync_warp();
}

template <typename... Parameters, typename... Args>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, Stream, Args... args) {
  emulated::run_grid(grid, block, shared_bytes, [&] { kernel(args...); });
}

}  // namespace shoal::gpu
