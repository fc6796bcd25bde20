// The tape: a layer's forward records its own backward. backward() runs the records in reverse and drops each
// one, with all that it saved, as soon as it has run.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"

namespace shoal {

// What a layer keeps of an input for its backward: the value itself, or how to compute it again.
class Saved {
 public:
  Saved() = default;
  explicit Saved(Tensor value) : value_(std::move(value)) {}
  explicit Saved(std::function<Tensor()> again) : again_(std::move(again)) {}
  Tensor get() const { return again_ ? again_() : value_; }

 private:
  Tensor value_;
  std::function<Tensor()> again_;
};

// An activation and the place of its gradient. The two live apart, so that a layer whose backward needs only
// the gradient does not keep the value alive.
struct Var {
  Tensor value;
  std::shared_ptr<Tensor>
      grad;  // points to an undefined tensor until the first consumer's backward has written it
  std::function<Tensor()> again;  // set by layers whose output is cheaper to compute again than to keep

  bool defined() const { return grad != nullptr; }
  Saved save() const { return again ? Saved(again) : Saved(value); }
};

inline Var make_var(Tensor value, std::function<Tensor()> again = {}) {
  return {std::move(value), std::make_shared<Tensor>(), std::move(again)};
}

class Tape {
 public:
  // A tape that does not record runs a forward only (evaluation, generation, the first pass of
  // recomputation).
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

// A part of a forward pass as a function of a tape and its inputs.
using Segment = std::function<std::vector<Var>(Tape&, const std::vector<Var>&)>;

// Runs the segment without recording, keeping only its inputs; backward runs it again, records, and goes back
// through that (Chen et al. 2016, "Training deep nets with sublinear memory cost"). The gradients have the
// same bits as without.
std::vector<Var> recompute(Tape& tape, const std::vector<Var>& inputs, Segment segment);

}  // namespace shoal
