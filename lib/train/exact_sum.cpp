#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "base/check.h"
#include "layers/gradients.h"
#include "optim/clip.h"
#include "train/fixed_point.h"
#include "train/gradient_sum.h"

namespace shoal {
namespace {

class ExactSum final : public GradientSum, private GradientSink {
 public:
  ExactSum(Decoder& model, Context& context)
      : model_(model), parameters_(model.parameters()), context_(context) {
    parameters_.gradients().sink = this;
  }
  ~ExactSum() override { parameters_.gradients().sink = nullptr; }

  void begin() override {
    bad_ = 0;
    for (auto& [parameter, sums] : sums_) sums.empty = true;
  }

  void finish() override {
    for (const Axis axis : {Axis::z, Axis::data}) {
      context_.comm(axis).all_reduce(View(&bad_, DType::i64, {1}), Reduce::max, "finite").wait();
    }
    for (Parameter& p : parameters_.all()) {
      const auto found = sums_.find(&p);
      if (found != sums_.end() && !found->second.empty) complete(p, found->second);
    }
    model_.finish_gradients();
    for (Parameter& p : parameters_.all()) {
      if (p.over_data && p.grad.defined())
        p.grad = p.grad.part(p.owned.begin - p.shard.begin, p.master.shape());
    }
  }

  double norm() override {
    int64_t sums[3] = {0, 0, 0};  // high, low, not finite
    for (const Parameter& p : parameters_.all()) {
      if (!p.grad.defined() || !counts_here(p, context_)) continue;
      const auto* values = static_cast<const float*>(p.grad.view().data);
      if (!add_squares(values, p.grad.numel(), sums[0], sums[1])) sums[2] = 1;
    }
    sum_where_cut(View(sums, DType::i64, {3}), context_);
    if (sums[2] > 0) return std::numeric_limits<double>::quiet_NaN();
    return std::sqrt(square_sum(sums[0], sums[1]));
  }

 private:
  struct Sums {
    Tensor high, low;  // i64, the block, with room for equal parts over z
    bool empty = true;
    FixedPoint view() const {
      return {static_cast<int64_t*>(high.view().data), static_cast<int64_t*>(low.view().data)};
    }
  };

  void add(Parameter& p, const Tensor& block) override {
    Sums& sums = sums_[&p];
    if (!sums.high.defined()) {
      const int64_t room = p.over_z ? p.z_part * context_.size(Axis::z) : p.block_size();
      sums.high = Tensor(context_.device, DType::i64, {room}, Lifetime::lasting);
      sums.low = Tensor(context_.device, DType::i64, {room}, Lifetime::lasting);
      // What pads the parts over z is summed too.
      std::memset(sums.high.view().data, 0, size_t(sums.high.view().bytes()));
      std::memset(sums.low.view().data, 0, size_t(sums.low.view().bytes()));
    }
    const auto* values = static_cast<const float*>(block.view().data);
    if (!add_fixed(values, p.block_size(), !sums.empty, sums.view())) bad_ = 1;
    sums.empty = false;
  }

  // Of integers any order of sums is the same.
  void complete(Parameter& p, const Sums& sums) {
    Sums shard{sums.high.part(0, {p.block_size()}), sums.low.part(0, {p.block_size()})};
    if (p.over_z) {
      const auto scatter = [&](const Tensor& all) {
        Tensor part(context_.device, DType::i64, {p.z_part});
        context_.comm(Axis::z).reduce_scatter(all, part, Reduce::sum, "RS_z " + p.spec.name).wait();
        return part;
      };
      shard.high = scatter(sums.high);
      shard.low = scatter(sums.low);
    } else {
      all_reduce(shard, Axis::z, "AR_z " + p.spec.name);
    }
    all_reduce(shard, Axis::data, "AR_data " + p.spec.name);
    bool accumulate = false;
    const Tensor& grad = grad_to_write(context_.ops, p, accumulate);
    SHOAL_CHECK(!accumulate);
    if (bad_ > 0) {
      context_.ops.fill(grad, std::numeric_limits<float>::quiet_NaN());
    } else {
      to_float(shard.view(), p.shard.count, static_cast<float*>(grad.view().data));
    }
  }

  void all_reduce(const Sums& sums, Axis axis, const std::string& label) {
    if (context_.size(axis) == 1) return;
    context_.comm(axis).all_reduce(sums.high, Reduce::sum, label).wait();
    context_.comm(axis).all_reduce(sums.low, Reduce::sum, label).wait();
  }

  Decoder& model_;
  ParameterRegistry& parameters_;
  Context& context_;
  std::map<const Parameter*, Sums> sums_;
  int64_t bad_ = 0;
};

}  // namespace

std::unique_ptr<GradientSum> make_exact_sum(Decoder& model, Context& context) {
  return std::make_unique<ExactSum>(model, context);
}

}  // namespace shoal
