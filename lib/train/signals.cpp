#include "train/signals.h"

#include <time.h>
#include <unistd.h>

#include <atomic>

#include "base/check.h"

namespace shoal {

namespace {

// A signal handler can reach nothing but statics: the only mutable state outside objects in this program.
std::atomic<int> g_received{0};
std::atomic<int64_t> g_received_at{0};  // milliseconds of the monotonic clock
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

constexpr int stop_signals[] = {SIGTERM, SIGUSR1, SIGINT};
constexpr int64_t one_delivery_ms = 500;

int64_t now_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
}

// Calls async-signal-safe functions only.
void on_signal(int signal) {
  int none = 0;
  if (g_received.compare_exchange_strong(none, signal)) {
    g_received_at = now_ms();
  } else if (now_ms() - g_received_at > one_delivery_ms) {
    _exit(128 + signal);
  }
}

}  // namespace

StopSignals::StopSignals() {
  g_received = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a save under way must not see half-done system calls
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < count; ++i) SHOAL_CHECK(sigaction(stop_signals[i], &action, &former_[i]) == 0);
}

StopSignals::~StopSignals() {
  for (int i = 0; i < count; ++i) sigaction(stop_signals[i], &former_[i], nullptr);
}

int StopSignals::received() {
  return g_received;
}

const char* signal_name(int signal) {
  switch (signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGUSR1:
      return "SIGUSR1";
    case SIGINT:
      return "SIGINT";
    default:
      return "a signal";
  }
}

}  // namespace shoal
