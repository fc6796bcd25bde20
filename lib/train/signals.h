// Asking a run to stop from outside: SIGTERM, SIGUSR1 and SIGINT.
#pragma once

#include <csignal>

namespace shoal {

// While one of these lives, the first of the signals only sets a flag. A second one ends the process at once,
// with code 128 + signal; deliveries within half a second of the first count as one, because launchers and
// terminals send a signal both to the process and to its group. Former handlers come back at the end. At most
// one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static int received();  // the signal's number, 0 for none

 private:
  static constexpr int count = 3;
  struct sigaction former_[count];
};

// "SIGTERM", "SIGUSR1", "SIGINT"
const char* signal_name(int signal);

}  // namespace shoal
