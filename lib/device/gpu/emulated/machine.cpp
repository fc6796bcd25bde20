#include "device/gpu/emulated/machine.h"

#include <algorithm>

namespace shoal::emulated {
namespace {
constexpr size_t slot_size = 16, max_threads = 1024;
}

Machine& Machine::instance() {
  static thread_local Machine machine;
  return machine;
}

void Machine::body(void* machine) {
  (*static_cast<Machine*>(machine)->body_)();
}

void Machine::run(const dim3& grid, const dim3& block, size_t shared_bytes,
                  const std::function<void()>& body) {
  count_ = size_t{block.x} * block.y * block.z;
  if (count_ == 0 || count_ > max_threads || count_ % warp_size != 0) {
    throw Fault("a block of " + std::to_string(count_) + " threads: 32 to 1024 in whole warps are allowed");
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535) {
    throw Fault("a grid of no block, or of more than 65535 along y or z");
  }
  while (threads_.size() < count_) threads_.push_back(std::make_unique<Thread>());
  slots_.resize(2 * max_threads * slot_size);
  grid_ = grid;
  block_ = block;
  body_ = &body;
  Memory& memory = Memory::instance();
  memory.begin_kernel();
  uint32_t number = 0;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        block_index_ = dim3(x, y, z);
        run_block(number++, shared_bytes);
        if (memory.faulty()) throw Fault(memory.take_fault());
      }
    }
  }
  memory.tick();
}

void Machine::run_block(uint32_t number, size_t shared_bytes) {
  Memory& memory = Memory::instance();
  dynamic_shared_ = memory.begin_block(shared_bytes);
  for (size_t i = 0; i < count_; ++i) {
    Thread& thread = *threads_[i];
    const auto linear = static_cast<unsigned>(i);
    thread.index = dim3(linear % block_.x, linear / block_.x % block_.y, linear / (block_.x * block_.y));
    thread.actor = {number * Memory::block_stride + linear, 0, 0};
    thread.exchanges = 0;
    thread.state = Thread::State::ready;
    thread.fiber.restart(&Machine::body, this);
  }
  while (run_ready()) {
    const bool block = release_block();
    const bool warps = release_warps();
    if (memory.faulty()) return;
    const auto end = threads_.begin() + static_cast<std::ptrdiff_t>(count_);
    const bool done =
        std::all_of(threads_.begin(), end, [](const auto& t) { return t->state == Thread::State::done; });
    if (done) return;
    if (!block && !warps) return memory.fault("divergent barrier: " + who_waits());
  }
}

bool Machine::run_ready() {
  bool any = false;
  for (size_t i = 0; i < count_; ++i) {
    Thread& thread = *threads_[i];
    if (thread.state != Thread::State::ready) continue;
    any = true;
    current_ = &thread;
    thread.fiber.enter();
    if (thread.fiber.done()) thread.state = Thread::State::done;
  }
  current_ = nullptr;
  return any;
}

bool Machine::release_block() {
  const int line = threads_[0]->line;
  for (size_t i = 0; i < count_; ++i) {
    if (threads_[i]->state != Thread::State::at_block_barrier || threads_[i]->line != line) return false;
  }
  const uint32_t now = Memory::instance().tick();
  for (size_t i = 0; i < count_; ++i) {
    threads_[i]->actor.block_sync = now;
    threads_[i]->state = Thread::State::ready;
  }
  return true;
}

bool Machine::release_warps() {
  bool released = false;
  for (size_t first = 0; first < count_; first += warp_size) {
    const auto begin = threads_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + warp_size;
    if (!std::all_of(begin, end, [](const auto& t) { return t->state == Thread::State::at_warp_barrier; }))
      continue;
    const uint32_t now = Memory::instance().tick();
    std::for_each(begin, end, [now](const auto& t) {
      t->actor.warp_sync = now;
      t->state = Thread::State::ready;
    });
    released = true;
  }
  return released;
}

std::string Machine::who_waits() const {
  std::string text = "of block " + std::to_string(block_index_.x) + ", ";
  size_t warps = 0, ended = 0;
  std::map<int, size_t> lines;
  for (size_t i = 0; i < count_; ++i) {
    const Thread& thread = *threads_[i];
    if (thread.state == Thread::State::done) ++ended;
    if (thread.state == Thread::State::at_warp_barrier) ++warps;
    if (thread.state == Thread::State::at_block_barrier) ++lines[thread.line];
  }
  for (const auto& [line, n] : lines) {
    text += std::to_string(n) + " threads wait at the __syncthreads of line " + std::to_string(line) + ", ";
  }
  return text + std::to_string(warps) + " wait for their warp, " + std::to_string(ended) + " have ended";
}

void Machine::wait(Thread::State barrier, int line) {
  Thread& thread = *current_;
  thread.state = barrier;
  thread.line = line;
  thread.fiber.leave();
}

int Machine::lane() const {
  return static_cast<int>(current_->actor.thread % warp_size);
}

unsigned char* Machine::slot(int parity, int lane) {
  const size_t warp = current_->actor.thread % Memory::block_stride / warp_size;
  return slots_.data() +
         ((static_cast<size_t>(parity) * max_threads) + warp * warp_size + static_cast<size_t>(lane)) *
             slot_size;
}

// What kernels call.

const dim3& thread_index() {
  return Machine::instance().current().index;
}
const dim3& block_index() {
  return Machine::instance().block_index();
}
const dim3& block_dim() {
  return Machine::instance().block_dim();
}
const dim3& grid_dim() {
  return Machine::instance().grid_dim();
}
int lane_id() {
  return Machine::instance().lane();
}

void sync_threads(int line) {
  Machine::instance().wait(Thread::State::at_block_barrier, line);
}
void sync_warp() {
  Machine::instance().wait(Thread::State::at_warp_barrier, 0);
}

void* shared_array(const void* id, size_t bytes) {
  return Memory::instance().shared_array(id, bytes);
}
void* dynamic_shared() {
  return Machine::instance().dynamic_shared();
}

void exchange(const void* value, void* result, size_t bytes, int lane) {
  Machine& machine = Machine::instance();
  const int parity = machine.current().exchanges++ % 2;
  std::memcpy(machine.slot(parity, machine.lane()), value, bytes);
  sync_warp();
  std::memcpy(result, machine.slot(parity, lane), bytes);
}

unsigned ballot(bool vote) {
  Machine& machine = Machine::instance();
  const int parity = machine.current().exchanges++ % 2;
  *machine.slot(parity, machine.lane()) = vote ? 1 : 0;
  sync_warp();
  unsigned votes = 0;
  for (int i = 0; i < warp_size; ++i) votes |= unsigned{*machine.slot(parity, i)} << i;
  return votes;
}

namespace {
template <typename T>
T add_atomically(T* address, T value) {
  Memory::instance().access(address, sizeof(T), AccessKind::atomic, Machine::instance().current().actor);
  const T before = *address;
  if (!Memory::instance().faulty()) *address = before + value;
  return before;
}
}  // namespace

float atomic_add(float* address, float value) {
  return add_atomically(address, value);
}
int atomic_add(int* address, int value) {
  return add_atomically(address, value);
}

void run_grid(const dim3& grid, const dim3& block, size_t shared_bytes, const std::function<void()>& thread) {
  Machine::instance().run(grid, block, shared_bytes, thread);
}

}  // namespace shoal::emulated
