// Makes batches ahead of the loop that uses them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "data/dataset.h"

namespace shoal {

// A thread that calls make(n) for n = first, first + 1, ... end - 1 and keeps up to `depth` results. Resuming
// at any n costs nothing, because make is a function of n.
class Prefetcher {
 public:
  Prefetcher(std::function<HostBatch(int64_t)> make, int64_t first, int64_t end, int64_t depth);
  ~Prefetcher();  // stops the thread after the batch in hand
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // The next batch, in order. Rethrows what make threw for it. Not to be called more than end - first times.
  HostBatch next();

  // Seconds that next() has waited so far; divided by the time of the loop it is the share lost to data.
  double seconds_waited() const { return seconds_waited_; }

 private:
  void run(int64_t first, int64_t end);

  std::function<HostBatch(int64_t)> make_;
  size_t depth_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostBatch> ready_;
  std::exception_ptr error_;
  bool stop_ = false, ended_ = false;
  double seconds_waited_ = 0;
  std::thread thread_;
};

}  // namespace shoal
