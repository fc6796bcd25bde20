// The emulated multiprocessor: one block after another, its threads as fibers that run from barrier to
// barrier.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/gpu/emulated/fiber.h"
#include "device/gpu/emulated/kernel_emulated.h"
#include "device/gpu/emulated/memory.h"

namespace shoal::emulated {

struct Thread {
  enum class State { ready, at_block_barrier, at_warp_barrier, done };
  Fiber fiber;
  State state = State::ready;
  dim3 index;
  Actor actor;
  int line = 0;       // of the block barrier it waits at
  int exchanges = 0;  // selects the slot, so that no lane overwrites what another has still to read
};

class Machine {
 public:
  static Machine& instance();

  void run(const dim3& grid, const dim3& block, size_t shared_bytes, const std::function<void()>& body);

  Thread& current() const { return *current_; }
  bool running() const { return current_ != nullptr; }
  const dim3& block_index() const { return block_index_; }
  const dim3& block_dim() const { return block_; }
  const dim3& grid_dim() const { return grid_; }
  void* dynamic_shared() const { return dynamic_shared_; }
  void wait(Thread::State barrier, int line);
  int lane() const;
  unsigned char* slot(int parity, int lane);

 private:
  static void body(void* machine);
  void run_block(uint32_t number, size_t shared_bytes);
  bool run_ready();
  bool release_block();
  bool release_warps();
  std::string who_waits() const;

  std::vector<std::unique_ptr<Thread>> threads_;
  size_t count_ = 0;  // threads of a block
  Thread* current_ = nullptr;
  dim3 grid_, block_, block_index_;
  void* dynamic_shared_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  std::vector<unsigned char> slots_;
};

}  // namespace shoal::emulated
