// Collectives within one group of ranks. Every call is asynchronous and carries a label (layer and purpose),
// by which traces and the counting communicator book its bytes. bf16 sums are accumulated in f32.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tensor/view.h"

namespace shoal {

enum class Reduce { sum, max, min };

// A collective under way. Buffers belong to the collective until wait() returns.
class Request {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual void wait() = 0;
  };
  Request() = default;  // already complete
  explicit Request(std::unique_ptr<State> state) : state_(std::move(state)) {}
  void wait() {
    if (state_) state_->wait();
    state_.reset();
  }

 private:
  std::unique_ptr<State> state_;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  virtual Request all_reduce(const View& data, Reduce op, std::string_view label) = 0;  // in place
  // out holds size() equal parts in rank order.
  virtual Request all_gather(const View& in, const View& out, std::string_view label) = 0;
  virtual Request reduce_scatter(const View& in, const View& out, Reduce op, std::string_view label) = 0;
  virtual Request broadcast(const View& data, int root, std::string_view label) = 0;
  virtual Request all_to_all(const View& in, const View& out, std::string_view label) = 0;
  virtual Request send(const View& data, int to, std::string_view label) = 0;
  virtual Request recv(const View& data, int from, std::string_view label) = 0;
  virtual void barrier(std::string_view label) = 0;
};

// The group of one rank: reductions change nothing, gathers copy.
std::unique_ptr<Communicator> make_self_communicator();

}  // namespace shoal
