// Work on a stream by many threads, with the results in the order of the stream and little held at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace shoal {

// read(Task&) fills the next task, or returns false at the end; one thread calls it. work(Task&) gives a
// Result; `threads` threads call it. use(Result&&) is called by the caller's thread, in the order of the
// tasks. The first exception, in that order, ends everything and is rethrown.
template <typename Task, typename Result>
class OrderedPipeline {
 public:
  using Read = std::function<bool(Task&)>;
  using Work = std::function<Result(Task&)>;

  OrderedPipeline(Read read, Work work, int threads)
      : read_(std::move(read)), work_(std::move(work)), most_in_flight_(size_t(threads) * 3 + 1) {
    threads_.emplace_back([this] { run_reader(); });
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run_worker(); });
  }

  ~OrderedPipeline() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  OrderedPipeline(const OrderedPipeline&) = delete;
  OrderedPipeline& operator=(const OrderedPipeline&) = delete;

  template <typename Use>
  void run(Use&& use) {
    for (int64_t n = 0;; ++n) {
      Outcome outcome;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return done_.count(n) > 0 || (read_all_ && n == tasks_read_); });
        if (done_.count(n) == 0) return;
        outcome = std::move(done_[n]);
        done_.erase(n);
        --in_flight_;
      }
      changed_.notify_all();
      if (outcome.error) std::rethrow_exception(outcome.error);
      use(std::move(outcome.result));
    }
  }

 private:
  struct Outcome {
    Result result{};
    std::exception_ptr error;
  };

  void run_reader() {
    for (bool more = true; more;) {
      Task task{};
      Outcome failed;
      try {
        more = read_(task);
      } catch (...) {
        failed.error = std::current_exception();
        more = false;
      }
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || in_flight_ < most_in_flight_; });
      if (stop_) return;
      if (failed.error) {
        ++in_flight_;
        done_[tasks_read_++] = std::move(failed);
      } else if (more) {
        ++in_flight_;
        waiting_.emplace_back(tasks_read_++, std::move(task));
      }
      read_all_ = !more;
      lock.unlock();
      changed_.notify_all();
    }
  }

  void run_worker() {
    for (;;) {
      std::pair<int64_t, Task> item;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || read_all_ || !waiting_.empty(); });
        if (stop_ || waiting_.empty()) return;
        item = std::move(waiting_.front());
        waiting_.pop_front();
      }
      Outcome outcome;
      try {
        outcome.result = work_(item.second);
      } catch (...) {
        outcome.error = std::current_exception();
      }
      {
        const std::lock_guard lock(mutex_);
        done_[item.first] = std::move(outcome);
      }
      changed_.notify_all();
    }
  }

  Read read_;
  Work work_;
  size_t most_in_flight_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<int64_t, Task>> waiting_;
  std::map<int64_t, Outcome> done_;
  size_t in_flight_ = 0;
  int64_t tasks_read_ = 0;
  bool read_all_ = false, stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace shoal
