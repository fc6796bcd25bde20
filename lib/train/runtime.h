// Where a command computes: the device, its operations and the model's context, made from the run spec.
#pragma once

#include <memory>

#include "comm/heartbeat.h"
#include "comm/mpi.h"
#include "comm/timeline.h"
#include "comm/traffic.h"
#include "layers/context.h"
#include "spec/run_spec.h"

namespace shoal {

class Runtime {
 public:
  // Uses run.threads threads (0: this rank's share of the cores that the process may use). Collective over
  // the ranks of the session, which must outlive it; null: one rank. Throws UserError for a device that is
  // not built in, and where the ranks, the grid and the model do not go together.
  explicit Runtime(const RunSpec& spec, const MpiSession* session = nullptr);

  Device& device() { return *device_; }
  Ops& ops() { return timed_ ? *timed_ : *kernels_; }
  Context& context() { return context_; }
  Communicator& world() { return *world_; }
  // The ranks that work on other samples of a batch with the same part of the model, as data/rank_rows.h
  // numbers them.
  Communicator& replicas() { return *replicas_; }
  int threads() const;
  bool first_rank() const { return world_->rank() == 0; }

  Traffic& traffic() { return traffic_; }
  Heartbeat& heartbeat() { return heartbeat_; }
  Timeline* timeline() { return timeline_.get(); }  // null without a trace

 private:
  std::shared_ptr<Communicator> group(const MpiSession* session, int color, int key, const char* name);
  void join(const MpiSession* session);

  double timeout_seconds_;
  Traffic traffic_;
  Heartbeat heartbeat_;
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Ops> kernels_, timed_;  // with a timeline: the kernels with a clock
  std::shared_ptr<Communicator> world_, replicas_;
  Context context_;
};

DType compute_type(const PrecisionSection& section);

// The rate that a square product of the compute type reaches here, in FLOP/s: the best of a few for about
// `seconds`.
double measure_peak_flops(Ops& ops, DType compute, double seconds);

}  // namespace shoal
