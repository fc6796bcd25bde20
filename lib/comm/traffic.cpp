#include "comm/traffic.h"

#include <chrono>

#include "base/check.h"

namespace shoal {

std::string_view name_of(Collective op) {
  switch (op) {
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::all_gather:
      return "all_gather";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::broadcast:
      return "broadcast";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::send:
      return "send";
    case Collective::recv:
      return "recv";
    case Collective::barrier:
      return "barrier";
  }
  SHOAL_CHECK(false);
}

double ring_bytes(Collective op, int64_t whole_bytes, int ranks) {
  const double whole = double(whole_bytes), others = double(ranks - 1) / double(ranks);
  if (ranks == 1) return 0;
  switch (op) {
    case Collective::all_reduce:
      return 2 * others * whole;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return others * whole;
    case Collective::broadcast:
    case Collective::send:
    case Collective::recv:
      return whole;
    case Collective::barrier:
      return 0;
  }
  SHOAL_CHECK(false);
}

void Traffic::add(std::string_view label, double bytes) {
  const std::lock_guard lock(mutex_);
  TrafficEntry& entry = entries_[std::string(label)];
  ++entry.calls;
  entry.ring_bytes += bytes;
}

void Traffic::add_wait(std::string_view label, double seconds) {
  const std::lock_guard lock(mutex_);
  entries_[std::string(label)].wait_seconds += seconds;
}

std::map<std::string, TrafficEntry, std::less<>> Traffic::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

TrafficEntry Traffic::total(std::string_view prefix) const {
  const std::lock_guard lock(mutex_);
  TrafficEntry sum;
  for (const auto& [label, entry] : entries_) {
    if (!label.starts_with(prefix)) continue;
    sum.calls += entry.calls;
    sum.ring_bytes += entry.ring_bytes;
    sum.wait_seconds += entry.wait_seconds;
  }
  return sum;
}

void Traffic::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

namespace {

class TimedWait : public Request::State {
 public:
  TimedWait(Request request, Traffic& traffic, std::string_view label)
      : request_(std::move(request)), traffic_(traffic), label_(label) {}
  void wait() override {
    const auto begin = std::chrono::steady_clock::now();
    request_.wait();
    traffic_.add_wait(label_,
                      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

 private:
  Request request_;
  Traffic& traffic_;
  std::string label_;
};

class TracedCommunicator : public Communicator {
 public:
  TracedCommunicator(std::unique_ptr<Communicator> inner, Traffic& traffic)
      : inner_(std::move(inner)), traffic_(traffic) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }

  Request all_reduce(const View& data, Reduce op, std::string_view label) override {
    return book(Collective::all_reduce, data.bytes(), label, inner_->all_reduce(data, op, label));
  }
  Request all_gather(const View& in, const View& out, std::string_view label) override {
    return book(Collective::all_gather, out.bytes(), label, inner_->all_gather(in, out, label));
  }
  Request reduce_scatter(const View& in, const View& out, Reduce op, std::string_view label) override {
    return book(Collective::reduce_scatter, in.bytes(), label, inner_->reduce_scatter(in, out, op, label));
  }
  Request broadcast(const View& data, int root, std::string_view label) override {
    return book(Collective::broadcast, data.bytes(), label, inner_->broadcast(data, root, label));
  }
  Request all_to_all(const View& in, const View& out, std::string_view label) override {
    return book(Collective::all_to_all, in.bytes(), label, inner_->all_to_all(in, out, label));
  }
  Request send(const View& data, int to, std::string_view label) override {
    return book(Collective::send, data.bytes(), label, inner_->send(data, to, label));
  }
  Request recv(const View& data, int from, std::string_view label) override {
    return book(Collective::recv, data.bytes(), label, inner_->recv(data, from, label));
  }
  void barrier(std::string_view label) override {
    traffic_.add(label, 0);
    inner_->barrier(label);
  }

 private:
  Request book(Collective op, int64_t whole_bytes, std::string_view label, Request request) {
    traffic_.add(label, ring_bytes(op, whole_bytes, size()));
    return Request(std::make_unique<TimedWait>(std::move(request), traffic_, label));
  }

  std::unique_ptr<Communicator> inner_;
  Traffic& traffic_;
};

}  // namespace

std::unique_ptr<Communicator> make_traced_communicator(std::unique_ptr<Communicator> inner,
                                                       Traffic& traffic) {
  return std::make_unique<TracedCommunicator>(std::move(inner), traffic);
}

}  // namespace shoal
