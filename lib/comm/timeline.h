// What a rank did when: spans of computing and of communication, for the trace viewers of others.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "comm/traffic.h"

namespace shoal {

// Spans are kept in memory up to a number of them; what comes then is counted and left out.
//
// Thread 0 is the thread that made the timeline: what it computes, and what it waits for ("wait <label>").
// Threads 1, 2, ... are communication: each collective from its call to the end of its wait, one more thread
// where several are under way at once. Within a thread spans are nested or apart.
class Timeline : public CommObserver {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Timeline(int64_t max_spans);

  // Spans that end while recording is off are left out.
  void record(bool on) { on_ = on; }

  // A span of thread 0. From another thread: left out.
  void add(std::string_view name, Time begin, Time end);
  void finished(const CollectiveSpan& span) override;

  int64_t left_out() const { return left_out_; }

  // This rank's spans as JSON objects of the Trace Event Format (Chrome, Perfetto), each followed by ",\n":
  // metadata, then complete events ("ph": "X") with times in microseconds.
  // `process` names the rank for people; `offset` is added to this rank's clock.
  std::string to_json(int rank, const std::string& process, std::chrono::nanoseconds offset) const;

  // The same as lines of a CSV as Pipit reads it (Bhatele et al. 2023, arXiv 2306.11177), without the heading
  // of csv_heading(). Times of a rank rise strictly, so that a reader may sort by them. "bytes" is a counter,
  // as Pipit wants it: of thread 0, all that the rank had sent by then; of the others, all that the thread
  // had.
  std::string to_csv(int rank, std::chrono::nanoseconds offset) const;
  static std::string csv_heading();

 private:
  struct Span {
    int64_t begin, end;  // ns of the steady clock
    int32_t name;
    int32_t thread;  // 1: communication, not yet laid out
    double bytes;
  };

  void add(const Span& span);
  int32_t id_of(std::string_view name);
  std::vector<Span> laid_out() const;

  const std::thread::id owner_;
  const size_t max_spans_;
  bool on_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, int32_t, std::less<>> ids_;
  std::vector<std::string> names_;
  std::vector<Span> spans_;
  int64_t left_out_ = 0;
};

}  // namespace shoal
