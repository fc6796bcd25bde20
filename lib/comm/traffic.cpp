#include "comm/traffic.h"

#include <functional>
#include <utility>

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

void Traffic::add_time(std::string_view label, double wait_seconds, double under_way_seconds) {
  const std::lock_guard lock(mutex_);
  TrafficEntry& entry = entries_[std::string(label)];
  entry.wait_seconds += wait_seconds;
  entry.under_way_seconds += under_way_seconds;
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
    sum.under_way_seconds += entry.under_way_seconds;
  }
  return sum;
}

void Traffic::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

class TracedRequest : public Request::State {
 public:
  using Done = std::function<void(CollectiveSpan&)>;
  TracedRequest(Request request, std::string_view label, CollectiveSpan span, Done done)
      : request_(std::move(request)), label_(label), span_(span), done_(std::move(done)) {
    span_.label = label_;
  }
  void wait() override {
    span_.waited = Clock::now();
    request_.wait();
    span_.done = Clock::now();
    done_(span_);
  }

 private:
  Request request_;
  std::string label_;
  CollectiveSpan span_;
  Done done_;
};

class TracedCommunicator : public Communicator {
 public:
  TracedCommunicator(std::unique_ptr<Communicator> inner, Traffic& traffic,
                     std::vector<CommObserver*> observers)
      : inner_(std::move(inner)), traffic_(traffic), observers_(std::move(observers)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }

  Request all_reduce(const View& data, Reduce op, std::string_view label) override {
    return book(Collective::all_reduce, data.bytes(), label,
                [&] { return inner_->all_reduce(data, op, label); });
  }
  Request all_gather(const View& in, const View& out, std::string_view label) override {
    return book(Collective::all_gather, out.bytes(), label,
                [&] { return inner_->all_gather(in, out, label); });
  }
  Request reduce_scatter(const View& in, const View& out, Reduce op, std::string_view label) override {
    return book(Collective::reduce_scatter, in.bytes(), label,
                [&] { return inner_->reduce_scatter(in, out, op, label); });
  }
  Request broadcast(const View& data, int root, std::string_view label) override {
    return book(Collective::broadcast, data.bytes(), label,
                [&] { return inner_->broadcast(data, root, label); });
  }
  Request all_to_all(const View& in, const View& out, std::string_view label) override {
    return book(Collective::all_to_all, in.bytes(), label,
                [&] { return inner_->all_to_all(in, out, label); });
  }
  Request send(const View& data, int to, std::string_view label) override {
    return book(Collective::send, data.bytes(), label, [&] { return inner_->send(data, to, label); });
  }
  Request recv(const View& data, int from, std::string_view label) override {
    return book(Collective::recv, data.bytes(), label, [&] { return inner_->recv(data, from, label); });
  }
  void barrier(std::string_view label) override {
    book(Collective::barrier, 0, label, [&] {
      inner_->barrier(label);
      return Request();
    }).wait();
  }

 private:
  template <typename Call>
  Request book(Collective op, int64_t whole_bytes, std::string_view label, Call&& call) {
    CollectiveSpan span{.ring_bytes = ring_bytes(op, whole_bytes, size()), .called = Clock::now()};
    traffic_.add(label, span.ring_bytes);
    for (CommObserver* observer : observers_) observer->started(label);
    Request request = call();
    span.issued = Clock::now();
    return Request(std::make_unique<TracedRequest>(std::move(request), label, span, [this](auto& done) {
      traffic_.add_time(done.label, seconds(done.issued - done.called + (done.done - done.waited)),
                        seconds(done.done - done.called));
      for (CommObserver* observer : observers_) observer->finished(done);
    }));
  }

  std::unique_ptr<Communicator> inner_;
  Traffic& traffic_;
  std::vector<CommObserver*> observers_;
};

}  // namespace

std::unique_ptr<Communicator> make_traced_communicator(std::unique_ptr<Communicator> inner, Traffic& traffic,
                                                       std::vector<CommObserver*> observers) {
  return std::make_unique<TracedCommunicator>(std::move(inner), traffic, std::move(observers));
}

}  // namespace shoal
