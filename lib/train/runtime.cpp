#include "train/runtime.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "data/rank_rows.h"
#include "model/config.h"
#include "model/grid_check.h"
#include "ops/timed.h"

namespace shoal {

namespace {

// Whether the launcher has given this process cores of its own.
bool bound() {
  return omp_get_num_procs() < static_cast<int>(std::thread::hardware_concurrency());
}

std::unique_ptr<Device> open_device(const RunSpec& spec, const MpiSession* session) {
  if (spec.run.threads > 0) {
    omp_set_num_threads(int(spec.run.threads));
  } else if (session != nullptr && std::getenv("OMP_NUM_THREADS") == nullptr && !bound()) {
    omp_set_num_threads(std::max(1, omp_get_num_procs() / session->local_size()));
  }
  return make_device(spec.run.device);
}

std::unique_ptr<Ops> with_a_clock(Ops& kernels, Timeline& timeline) {
  return std::make_unique<TimedOps>(kernels,
                                    [&timeline](const char* kind, TimedOps::Time begin, TimedOps::Time end) {
                                      timeline.add(kind, begin, end);
                                    });
}

Grid grid_of(const ParallelSection& p) {
  return {{int(p.x), int(p.y), int(p.z), int(p.data)}};
}

void check_grid(const RunSpec& spec, int ranks) {
  const Grid grid = grid_of(spec.parallel);
  if (ranks == 1 && grid.ranks() == 1) return;
  // Any vocabulary divides, and the tokenizer is not read for its size here.
  constexpr int64_t any_vocab = 50304;
  const ModelConfig model = resolve_model(spec.model, spec.model.vocab_size > 0 ? 0 : any_vocab);
  const BatchShape batch{spec.batch.micro, spec.data.seq_length, spec.batch.global};
  if (const auto problem = world_problem(model, grid, ranks, batch)) throw UserError(*problem);
}

}  // namespace

Runtime::Runtime(const RunSpec& spec, const MpiSession* session)
    : timeout_seconds_(spec.parallel.timeout),
      timeline_(spec.trace.steps > 0 ? std::make_unique<Timeline>(spec.trace.max_spans) : nullptr),
      device_(open_device(spec, session)),
      kernels_(make_ops(*device_)),
      timed_(timeline_ ? with_a_clock(*kernels_, *timeline_) : nullptr),
      context_(make_local_context(*device_, ops(), compute_type(spec.precision), spec.run.seed)) {
  check_grid(spec, session != nullptr ? session->size() : 1);
  context_.grid = grid_of(spec.parallel);
  const ParallelSection& p = spec.parallel;
  context_.parallel = {p.overlap, int(p.prefetch), p.regather, p.shard_optimizer};
  join(session);
}

void Runtime::join(const MpiSession* session) {
  const int rank = session != nullptr ? session->rank() : 0;
  world_ = group(session, 0, rank, "world");
  context_.at = coordinates_of(context_.grid, rank);
  constexpr const char* names[num_axes] = {"x", "y", "z", "data"};
  for (size_t axis = 0; axis < num_axes; ++axis) {
    Coordinates first = context_.at;
    first.at[axis] = 0;
    if (context_.grid.size[axis] > 1) {
      context_.along[axis] = group(session, rank_of(context_.grid, first), context_.at.at[axis], names[axis]);
    }
  }
  Coordinates first = context_.at;
  first.at[size_t(Axis::z)] = first.at[size_t(Axis::data)] = 0;
  replicas_ =
      group(session, rank_of(context_.grid, first), replica_of(context_.grid, context_.at), "replicas");
}

std::shared_ptr<Communicator> Runtime::group(const MpiSession* session, int color, int key,
                                             const char* name) {
  if (session == nullptr || session->size() == 1) return make_self_communicator();
  const MpiOptions options{timeout_seconds_,
                           [this, ranks = session->size()] { return heartbeat_.laggards(ranks); }};
  std::vector<CommObserver*> observers{&heartbeat_};
  if (timeline_) observers.push_back(timeline_.get());
  return make_traced_communicator(make_mpi_communicator(*session, color, key, name, options), traffic_,
                                  observers);
}

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
