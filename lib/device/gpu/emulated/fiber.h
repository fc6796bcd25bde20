// A thread of a kernel on the host: a stack of its own, left and entered by a switch without a system call.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>

namespace shoal::emulated {

class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next entry calls body(argument) from its beginning; what the fiber was about is forgotten, without
  // destructors (kernels have none).
  void restart(void (*body)(void*), void* argument);
  void enter();  // returns when the fiber leaves or its body returns
  void leave();  // from inside: returns at the next enter
  bool done() const { return done_; }

 private:
  static void start(unsigned low, unsigned high);

  void* stack_ = nullptr;
  ucontext_t first_{}, home_{};
  jmp_buf inside_{}, outside_{};
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool fresh_ = true, done_ = false;
};

}  // namespace shoal::emulated
