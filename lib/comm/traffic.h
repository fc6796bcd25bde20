// What a run sends, by label: calls, bytes as a ring would send them, seconds waited.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"

namespace shoal {

enum class Collective { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send, recv, barrier };
std::string_view name_of(Collective op);

// Bytes a rank sends in the ring form of a collective over n ranks: 2 (n-1)/n S for an all-reduce, (n-1)/n S
// for an all-gather, a reduce-scatter and an all-to-all, S for the rest. S is the size of the whole buffer,
// all ranks' parts together.
double ring_bytes(Collective op, int64_t whole_bytes, int ranks);

struct TrafficEntry {
  int64_t calls = 0;
  double ring_bytes = 0;
  double wait_seconds = 0;       // spent in the call and in wait(); what did not fit behind other work
  double under_way_seconds = 0;  // from the call to the end of its wait
};

// A ledger that several communicators share. Labels are "<purpose>
// <layer>", for example "AG_z layers.3.mlp.in".
class Traffic {
 public:
  void add(std::string_view label, double bytes);
  void add_time(std::string_view label, double wait_seconds, double under_way_seconds);
  std::map<std::string, TrafficEntry, std::less<>> entries() const;
  // The sum over all labels that begin with a prefix.
  TrafficEntry total(std::string_view prefix) const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, TrafficEntry, std::less<>> entries_;
};

// One collective from its call to the end of its wait. It is under way all that time, as far as its caller
// knows; between issued and waited the caller does other work.
struct CollectiveSpan {
  using Time = std::chrono::steady_clock::time_point;
  std::string_view label;
  double ring_bytes = 0;
  Time called, issued, waited, done;
};

// Is told what a communicator does, by the threads that communicate.
class CommObserver {
 public:
  virtual ~CommObserver() = default;
  virtual void started(std::string_view) {}  // before the call, with its label
  virtual void finished(const CollectiveSpan&) {}
};

// A communicator that books every call in the ledger, tells the observers and passes it on. Ledger and
// observers outlive it.
std::unique_ptr<Communicator> make_traced_communicator(std::unique_ptr<Communicator> inner, Traffic& traffic,
                                                       std::vector<CommObserver*> observers = {});

// A stand-in for a group of any size, on one process: shapes are checked and results are finite, but no other
// rank exists. Sums behave as if the others had contributed nothing,
// gathers as if they held what this rank holds.
std::unique_ptr<Communicator> make_counting_communicator(int rank, int size);

}  // namespace shoal
