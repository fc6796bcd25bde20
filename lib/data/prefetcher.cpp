#include "data/prefetcher.h"

#include <chrono>

#include "base/check.h"

namespace shoal {

Prefetcher::Prefetcher(std::function<HostBatch(int64_t)> make, int64_t first, int64_t end, int64_t depth)
    : make_(std::move(make)), depth_(size_t(depth)), thread_([this, first, end] { run(first, end); }) {}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetcher::run(int64_t first, int64_t end) {
  std::exception_ptr error;
  try {
    for (int64_t n = first; n < end; ++n) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || ready_.size() < depth_; });
        if (stop_) return;
      }
      HostBatch batch = make_(n);
      {
        const std::lock_guard lock(mutex_);
        ready_.push_back(std::move(batch));
      }
      changed_.notify_all();
    }
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    error_ = error;
    ended_ = true;
  }
  changed_.notify_all();
}

HostBatch Prefetcher::next() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty() || ended_; });
  seconds_waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (ready_.empty()) {
    if (error_) std::rethrow_exception(error_);
    SHOAL_CHECK(!"a batch is asked for behind the last one");
  }
  HostBatch batch = std::move(ready_.front());
  ready_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return batch;
}

}  // namespace shoal
