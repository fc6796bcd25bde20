#include "train/runtime.h"

#include <omp.h>

#include <algorithm>
#include <chrono>

#include "ops/timed.h"

namespace shoal {

namespace {

std::unique_ptr<Device> open_device(const RunSpec& spec) {
  if (spec.run.threads > 0) omp_set_num_threads(int(spec.run.threads));
  return make_device(spec.run.device);
}

std::unique_ptr<Ops> with_a_clock(Ops& kernels, Timeline& timeline) {
  return std::make_unique<TimedOps>(kernels,
                                    [&timeline](const char* kind, TimedOps::Time begin, TimedOps::Time end) {
                                      timeline.add(kind, begin, end);
                                    });
}

}  // namespace

Runtime::Runtime(const RunSpec& spec)
    : timeline_(spec.trace.steps > 0 ? std::make_unique<Timeline>(spec.trace.max_spans) : nullptr),
      device_(open_device(spec)),
      kernels_(make_ops(*device_)),
      timed_(timeline_ ? with_a_clock(*kernels_, *timeline_) : nullptr),
      world_(make_self_communicator()),
      context_(make_local_context(*device_, ops(), compute_type(spec.precision), spec.run.seed)) {}

int Runtime::threads() const {
  return omp_get_max_threads();
}

DType compute_type(const PrecisionSection& section) {
  return section.compute == "bf16" ? DType::bf16 : DType::f32;
}

double measure_peak_flops(Ops& ops, DType compute, double seconds) {
  constexpr int64_t n = 1024;
  const auto matrix = [&](DType type) {
    Tensor t(ops.device(), type, {n, n});
    ops.fill(t, 0.5f);
    return t;
  };
  const Tensor a = matrix(compute), b = matrix(compute), c = matrix(compute);
  MatmulArgs product;
  product.a = a;
  product.b = b;
  product.c = c;
  using Clock = std::chrono::steady_clock;
  const auto elapsed = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  double best = 0;
  const auto start = Clock::now();
  do {
    const auto begin = Clock::now();
    ops.matmul(product);
    ops.device().synchronize();
    best = std::max(best, 2.0 * double(n * n * n) / elapsed(begin));
  } while (elapsed(start) < seconds);
  return best;
}

}  // namespace shoal
