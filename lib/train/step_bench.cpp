#include "train/step_bench.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/philox.h"
#include "optim/clip.h"
#include "optim/optimizer.h"
#include "train/batch_gradient.h"
#include "train/build_model.h"
#include "train/runtime.h"

namespace shoal {
namespace {

constexpr int64_t warmup_steps = 2;
constexpr double seconds_a_product = 0.15;

// A training state that steps on the same random tokens again and again.
class Stepper {
 public:
  Stepper(const RunSpec& spec, Context& context, Communicator& replicas)
      : spec_(spec),
        context_(context),
        rows_(spec.batch.global / replicas.size()),
        model_(build_model(spec, context)),
        optimizer_(make_optimizer(spec.optimizer, model_->parameters(), context)),
        gradient_(*model_, context, replicas, spec) {
    const int64_t count = rows_ * spec.data.seq_length;
    const Philox random(spec.run.seed, "bench");
    for (int64_t i = 0; i <= count; ++i) {
      const auto vocab = static_cast<uint64_t>(model_->config().vocab_size);
      tokens_.push_back(static_cast<int32_t>(random.bits(static_cast<uint64_t>(i)) % vocab));
    }
  }

  void step() {
    const Batch rows{rows_, spec_.data.seq_length, tokens_.data(), tokens_.data() + 1};
    gradient_.compute(rows, rows_ * spec_.data.seq_length);
    const double norm = gradient_.norm();
    optimizer_->apply(++updates_, spec_.optimizer.lr, clip_scale(norm, spec_.optimizer.clip_norm));
    gather_owned(context_, model_->parameters());
    context_.ops.weights_changed();
    context_.device.synchronize();
  }

  double timed_step() {
    const auto begin = std::chrono::steady_clock::now();
    step();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  const ModelConfig& config() const { return model_->config(); }

 private:
  const RunSpec& spec_;
  Context& context_;
  int64_t rows_;  // of this replica
  std::unique_ptr<Decoder> model_;
  std::unique_ptr<Optimizer> optimizer_;
  BatchGradient gradient_;
  std::vector<int32_t> tokens_;
  int64_t updates_ = 0;
};

}  // namespace

double StepBench::median_seconds() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted.at(sorted.size() / 2);
}

double StepBench::mean_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

double StepBench::product_rate() const {
  double flops = 0, ideal = 0;
  for (const auto& [product, best] : alone) {
    const OpTime& time = products.at(product);
    flops += time.flops;
    ideal += static_cast<double>(time.calls) * best;
  }
  return ideal > 0 ? flops / ideal : 0;
}

StepBench bench_step(const RunSpec& spec, int64_t steps, bool measure_products, const MpiSession* session) {
  Runtime runtime(spec, session);
  StepBench result;
  result.tokens = static_cast<double>(spec.batch.global * spec.data.seq_length);
  {
    // A clock at every operation costs nothing beside operations of this size.
    TimedOps ops(runtime.ops());
    const Context& grid = runtime.context();
    Context context{runtime.device(), ops,     grid.compute, grid.seed,
                    grid.grid,        grid.at, grid.along,   grid.parallel};
    Stepper stepper(spec, context, runtime.replicas());
    result.model_flops = result.tokens * stepper.config().train_flops_per_token(spec.data.seq_length);
    for (int64_t i = 0; i < warmup_steps; ++i) stepper.step();
    for (int64_t i = 0; i < steps; ++i) {
      ops.reset();
      const double seconds = stepper.timed_step();
      result.seconds.push_back(seconds);
      if (i == 0 || seconds < result.best_seconds) {
        result.best_seconds = seconds;
        result.kinds = ops.kinds();
        result.products = ops.products();
      }
    }
    result.device_peak = runtime.device().memory().peak;
  }
  if (measure_products) {
    for (const auto& [product, time] : result.products) {
      result.alone[product] = measure_product(runtime.ops(), product, seconds_a_product);
    }
  }
  return result;
}

}  // namespace shoal
