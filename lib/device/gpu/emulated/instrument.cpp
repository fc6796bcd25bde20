// The calls that the compiler puts before every access to memory in a file compiled with -fsanitize=thread.
// The sanitizer's own runtime is not linked: these take its place. Outside a kernel they do nothing.
#include "device/gpu/emulated/machine.h"

namespace {

using shoal::emulated::AccessKind;
using shoal::emulated::Machine;
using shoal::emulated::Memory;

void access(const void* data, size_t bytes, AccessKind kind) {
  Machine& machine = Machine::instance();
  if (machine.running()) Memory::instance().access(data, bytes, kind, machine.current().actor);
}

}  // namespace

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* p, size_t bytes) {
  access(p, bytes, AccessKind::read);
}
void __tsan_write_range(void* p, size_t bytes) {
  access(p, bytes, AccessKind::write);
}

#define SHOAL_ACCESS(bytes)                     \
  void __tsan_read##bytes(void* p) {            \
    access(p, bytes, AccessKind::read);         \
  }                                             \
  void __tsan_write##bytes(void* p) {           \
    access(p, bytes, AccessKind::write);        \
  }                                             \
  void __tsan_unaligned_read##bytes(void* p) {  \
    access(p, bytes, AccessKind::read);         \
  }                                             \
  void __tsan_unaligned_write##bytes(void* p) { \
    access(p, bytes, AccessKind::write);        \
  }
SHOAL_ACCESS(1)
SHOAL_ACCESS(2)
SHOAL_ACCESS(4)
SHOAL_ACCESS(8)
SHOAL_ACCESS(16)
#undef SHOAL_ACCESS

}  // extern "C"
