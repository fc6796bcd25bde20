// From the gradients that this rank's micro-batches leave to those of the global batch.
#pragma once

#include <memory>

#include "model/decoder.h"
#include "spec/run_spec.h"

namespace shoal {

class GradientSum {
 public:
  virtual ~GradientSum() = default;
  virtual void begin() {}  // a step, after the gradients of the last one were cleared
  virtual void before_last_pass() {}
  // After the last pass. Every Parameter::grad is then complete, and that of the elements this rank owns.
  virtual void finish() = 0;
  // The global L2 norm of what finish() has left. Collective.
  virtual double norm() = 0;
};

// Sums in f32 over data in buckets of parallel.bucket_mb, which start while the backward of the last pass
// goes on; with parallel.shard_optimizer, a reduce-scatter leaves each rank what it owns.
std::unique_ptr<GradientSum> make_bucket_sum(Decoder& model, Context& context,
                                             const ParallelSection& section);

// parallel.reproducible: exact sums in fixed point, in which the order of micro-batches and where they were
// worked on leave no trace. 16 bytes more for each element of this rank's blocks.
std::unique_ptr<GradientSum> make_exact_sum(Decoder& model, Context& context);

std::unique_ptr<GradientSum> make_gradient_sum(Decoder& model, Context& context,
                                               const ParallelSection& section);

}  // namespace shoal
