// The tape: a layer's forward records its own backward. backward() runs the records in reverse and drops each one,
// with all that it saved, as soon as it has run.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"

namespace shoal {

// An activation with its gradient. Layers pass shared pointers to them.
struct Node {
  Tensor value;
  Tensor grad;  // undefined until the first consumer's backward has written it
};
using Var = std::shared_ptr<Node>;

inline Var make_var(Tensor value) { return std::make_shared<Node>(Node{std::move(value), {}}); }

class Tape {
 public:
  // A tape that does not record runs a forward only (evaluation, generation, the first pass of recomputation).
  explicit Tape(bool recording = true) : recording_(recording) {}
  bool recording() const { return recording_; }

  void record(std::function<void()> backward) {
    if (recording_) records_.push_back(std::move(backward));
  }

  void backward() {
    while (!records_.empty()) {
      auto step = std::move(records_.back());
      records_.pop_back();
      step();
    }
  }

  size_t size() const { return records_.size(); }

 private:
  bool recording_;
  std::vector<std::function<void()>> records_;
};

}  // namespace shoal
