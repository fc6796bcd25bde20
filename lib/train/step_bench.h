// Measures training steps on random tokens: no data, no checkpoints, no logging.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "comm/mpi.h"
#include "ops/timed.h"
#include "spec/run_spec.h"

namespace shoal {

struct StepBench {
  std::vector<double> seconds;         // of each step after the warm-up
  double tokens = 0, model_flops = 0;  // of a step
  int64_t device_peak = 0;             // bytes: the most that tensors held at once
  // The fastest of them, and where its time went.
  double best_seconds = 0;
  std::map<std::string, OpTime> kinds;
  std::map<Product, OpTime> products;
  std::map<Product, double> alone;  // seconds of one such product by itself; empty unless asked for

  double median_seconds() const;
  double mean_seconds() const;  // with what an optimizer does every few steps only
  // The rate of the step's products, each measured alone, in FLOP/s; 0 if they were not.
  double product_rate() const;
};

// Steps of batch.global sequences of data.seq_length in micro-batches of batch.micro: forward, backward,
// norm, AdamW.
// On a grid collective over the ranks of the session; null: one rank.
StepBench bench_step(const RunSpec& spec, int64_t steps, bool measure_products,
                     const MpiSession* session = nullptr);

}  // namespace shoal
