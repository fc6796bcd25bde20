// The stream of global batches of a run.
#pragma once

#include <cstdint>
#include <memory>

#include "data/batch.h"
#include "data/dataset.h"
#include "data/goldfish.h"
#include "data/prefetcher.h"
#include "spec/run_spec.h"

namespace shoal {

class TrainData {
 public:
  // needed_samples: how far a run may get. Throws UserError if the data cannot give them.
  TrainData(const RunSpec& spec, int64_t needed_samples);

  // Batches of batch.global samples from sample `consumed` on, as many as `batches`, made ahead in a thread.
  void start(int64_t consumed, int64_t batches);
  HostBatch next() { return prefetcher_->next(); }
  double seconds_waited() const { return prefetcher_->seconds_waited(); }

  bool masked() const { return goldfish_.enabled(); }
  const SampleSource& source() const { return *source_; }

 private:
  int64_t global_batch_;
  std::unique_ptr<SampleSource> source_;
  Goldfish goldfish_;
  std::unique_ptr<Prefetcher> prefetcher_;
};

// run.steps whole batches, and what rollbacks may skip over.
int64_t samples_needed(const RunSpec& spec);

}  // namespace shoal
