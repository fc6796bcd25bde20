#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "layers/gradients.h"
#include "optim/clip.h"
#include "train/gradient_sum.h"

namespace shoal {
namespace {

class BucketSum final : public GradientSum {
 public:
  BucketSum(Decoder& model, Context& context, const ParallelSection& section)
      : model_(model),
        parameters_(model.parameters()),
        context_(context),
        bucket_bytes_(static_cast<int64_t>(section.bucket_mb * 1e6)) {}

  void before_last_pass() override {
    if (context_.size(Axis::data) == 1) return;
    buckets_ = 0;
    parameters_.gradients().on_ready = [this](Parameter& p) { take(p); };
  }

  void finish() override {
    model_.finish_gradients();
    parameters_.gradients().on_ready = nullptr;
    start();
    while (!under_way_.empty()) arrive();
  }

  double norm() override { return gradient_norm(parameters_, context_); }

 private:
  struct Bucket {
    std::vector<Parameter*> parameters;
    Tensor sum;      // of several parameters side by side; of one, undefined: it is summed where it lies
    bool scattered;  // the sum is of the owned part alone
    Request request;
  };

  static int64_t bytes(const Parameter& p) { return p.shard.count * size_of(DType::f32); }

  void take(Parameter& p) {
    if (p.over_data) {
      scatter(p);
      return;
    }
    filling_.push_back(&p);
    filled_ += bytes(p);
    if (filled_ >= bucket_bytes_) start();
  }

  void scatter(Parameter& p) {
    Tensor sum(context_.device, DType::f32, {p.data_part}, Lifetime::lasting);
    const View parts(p.grad.view().data, DType::f32, {p.data_part * context_.size(Axis::data)});
    Request request =
        context_.comm(Axis::data).reduce_scatter(parts, sum, Reduce::sum, "RS_data " + p.spec.name);
    under_way({{&p}, std::move(sum), true, std::move(request)});
  }

  void start() {
    if (filling_.empty()) return;
    Bucket bucket{std::exchange(filling_, {}), {}, false, {}};
    View sum = bucket.parameters.front()->grad;
    if (bucket.parameters.size() > 1) {
      bucket.sum = Tensor(context_.device, DType::f32, {filled_ / size_of(DType::f32)});
      each_part(bucket, [&](const View& part, const View& grad) { context_.ops.cast(grad, part); });
      sum = bucket.sum;
    }
    filled_ = 0;
    bucket.request =
        context_.comm(Axis::data).all_reduce(sum, Reduce::sum, "AR_data " + std::to_string(buckets_++));
    under_way(std::move(bucket));
  }

  void under_way(Bucket bucket) {
    under_way_.push_back(std::move(bucket));
    if (!context_.parallel.overlap) arrive();
  }

  void arrive() {
    Bucket bucket = std::move(under_way_.front());
    under_way_.pop_front();
    bucket.request.wait();
    if (bucket.scattered) {
      Parameter& p = *bucket.parameters.front();
      p.grad = bucket.sum.part(0, p.master.shape());
    } else if (bucket.sum.defined()) {
      each_part(bucket, [&](const View& part, const View& grad) { context_.ops.cast(part, grad); });
    }
  }

  template <typename Act>
  static void each_part(const Bucket& bucket, Act act) {
    int64_t at = 0;
    for (const Parameter* p : bucket.parameters) {
      act(bucket.sum.part(at, {p->shard.count}), p->grad.reshape({p->shard.count}));
      at += p->shard.count;
    }
  }

  Decoder& model_;
  ParameterRegistry& parameters_;
  Context& context_;
  int64_t bucket_bytes_, filled_ = 0;
  int buckets_ = 0;
  std::vector<Parameter*> filling_;
  std::deque<Bucket> under_way_;
};

}  // namespace

std::unique_ptr<GradientSum> make_bucket_sum(Decoder& model, Context& context,
                                             const ParallelSection& section) {
  return std::make_unique<BucketSum>(model, context, section);
}

std::unique_ptr<GradientSum> make_gradient_sum(Decoder& model, Context& context,
                                               const ParallelSection& section) {
  return section.reproducible ? make_exact_sum(model, context) : make_bucket_sum(model, context, section);
}

}  // namespace shoal
