#include "device/gpu/emulated/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace shoal::emulated {
namespace {
constexpr size_t stack_size = 128 << 10;
constexpr size_t page = 4096;
}  // namespace

// makecontext gives a function its stack; swapcontext would ask the system for the signal mask at every
// switch, so that all later ones are long jumps.
Fiber::Fiber() {
  stack_ =
      mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack_ == MAP_FAILED) throw std::bad_alloc();
  mprotect(stack_, page, PROT_NONE);  // a stack that is too deep ends here
}

Fiber::~Fiber() {
  munmap(stack_, stack_size);
}

void Fiber::restart(void (*body)(void*), void* argument) {
  body_ = body;
  argument_ = argument;
  fresh_ = true;
  done_ = false;
}

void Fiber::start(unsigned low, unsigned high) {
  auto* self = reinterpret_cast<Fiber*>(uintptr_t{low} | uintptr_t{high} << 32);
  self->body_(self->argument_);
  self->done_ = true;
  _longjmp(self->outside_, 1);
}

void Fiber::enter() {
  if (_setjmp(outside_) != 0) return;
  if (!fresh_) _longjmp(inside_, 1);
  fresh_ = false;
  getcontext(&first_);
  first_.uc_stack.ss_sp = stack_;
  first_.uc_stack.ss_size = stack_size;
  first_.uc_link = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(this);
  makecontext(&first_, reinterpret_cast<void (*)()>(&Fiber::start), 2, static_cast<unsigned>(address),
              static_cast<unsigned>(address >> 32));
  swapcontext(&home_, &first_);
}

void Fiber::leave() {
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
}

}  // namespace shoal::emulated
