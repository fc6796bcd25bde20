// What memory and execution a backend offers: buffers, a stream of work, copies.
// The CPU is one device whose stream is the calling thread; a GPU device enqueues on its own stream.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "tensor/view.h"

namespace shoal {

struct MemoryUse {
  int64_t current = 0;   // bytes handed out
  int64_t peak = 0;      // the most handed out at once
  int64_t reserved = 0;  // bytes held from the system, cached blocks included
};

// How long a block will be held: until other work of the same pass is done, or until the end of the step and
// longer. Kept apart, they leave fewer holes between them.
enum class Lifetime { passing, lasting };

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;

  // Uninitialised memory, 64-byte aligned, returned to the device's cache when the last owner lets go.
  // Throws a RuntimeFailure that states the size when there is none left.
  virtual std::shared_ptr<void> allocate(int64_t bytes, Lifetime lifetime) = 0;
  std::shared_ptr<void> allocate(int64_t bytes) { return allocate(bytes, Lifetime::passing); }
  virtual MemoryUse memory() const = 0;
  virtual void release_cache() = 0;

  // Copies between the device and the host, ordered with the device's
  // stream; to_host returns when it is done.
  virtual void to_host(void* host, const void* device, int64_t bytes) = 0;
  virtual void to_device(void* device, const void* host, int64_t bytes) = 0;
  virtual void synchronize() = 0;
};

// A tensor that owns its memory. Copies of the object share it.
class Tensor {
 public:
  Tensor() = default;
  // Contiguous, uninitialised.
  Tensor(Device& device, DType dtype, const Shape& shape, Lifetime lifetime = Lifetime::passing);

  bool defined() const { return storage_ != nullptr; }
  const View& view() const { return view_; }
  operator const View&() const { return view_; }
  const Shape& shape() const { return view_.shape; }
  int64_t dim(int i) const { return view_.dim(i); }
  int64_t numel() const { return view_.numel(); }
  DType dtype() const { return view_.dtype; }
  Tensor reshape(const Shape& shape) const;
  // The elements from `begin` on as a tensor of their own that shares the memory; of a contiguous tensor.
  Tensor part(int64_t begin, const Shape& shape) const;
  void reset() { *this = Tensor(); }

 private:
  std::shared_ptr<void> storage_;
  View view_;
};

// The registry: "cpu" is always there. Throws a UserError that lists what was built in.
std::unique_ptr<Device> make_device(const std::string& name);

}  // namespace shoal
