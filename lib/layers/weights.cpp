#include "layers/weights.h"

#include <algorithm>

namespace shoal {

void Weights::begin(Pass pass) {
  pass_ = pass;
  position_ = 0;
  open_ = true;
  seen_.clear();
}

void Weights::end() {
  Order& order = orders_[pass_];
  order.uses.resize(position_);
  order.complete = true;
  gathered_.clear();
  open_ = false;
}

WeightBlock Weights::use(const Parameter& parameter) {
  if (!parameter.over_z) return {parameter.compute, false};
  SHOAL_CHECK(open_);
  advance(parameter);
  Gathered& entry = start(parameter);
  entry.request.wait();
  const Tensor block = entry.buffer.part(0, parameter.slab.shape);
  if (!used_again(parameter)) gathered_.erase(&parameter);

  const Order& order = orders_[pass_];
  const size_t end = std::min(position_ + static_cast<size_t>(context_.parallel.prefetch), order.uses.size());
  for (size_t i = position_; i < end; ++i) start(*order.uses[i]);
  return {block, true};
}

void Weights::advance(const Parameter& parameter) {
  Order& order = orders_[pass_];
  if (position_ < order.uses.size() && order.uses[position_] != &parameter) {
    order.uses.resize(position_);
    order.complete = false;
  }
  if (position_ == order.uses.size()) {
    order.uses.push_back(&parameter);
    order.complete = false;
  }
  ++position_;
}

Weights::Gathered& Weights::start(const Parameter& parameter) {
  Gathered& entry = gathered_[&parameter];
  if (entry.buffer.defined()) return entry;
  const int64_t part = parameter.z_part;
  entry.buffer = Tensor(context_.device, parameter.compute.dtype(), {part * context_.size(Axis::z)});
  const View shard(parameter.compute.view().data, parameter.compute.dtype(), {part});
  // What backward gathers again has a label of its own, so that the volumes of the published equations can
  // be read off.
  const char* const purpose = seen_.insert(&parameter).second ? "AG_z " : "again_AG_z ";
  entry.request = context_.comm(Axis::z).all_gather(shard, entry.buffer, purpose + parameter.spec.name);
  if (!context_.parallel.overlap) entry.request.wait();
  return entry;
}

bool Weights::used_again(const Parameter& parameter) const {
  const Order& order = orders_.at(pass_);
  const bool keep = pass_ == Pass::train && !context_.parallel.regather;
  // The first pass does not know what is to come.
  if (!order.complete) return keep;
  const auto from = order.uses.begin() + static_cast<std::ptrdiff_t>(position_);
  const auto left = order.uses.end() - from;
  const auto ahead = keep ? left : std::min<std::ptrdiff_t>(context_.parallel.prefetch, left);
  return std::find(from, from + ahead, &parameter) != from + ahead;
}

}  // namespace shoal
