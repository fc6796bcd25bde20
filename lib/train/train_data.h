// The stream of global batches of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/batch.h"
#include "data/dataset.h"
#include "data/goldfish.h"
#include "data/prefetcher.h"
#include "spec/run_spec.h"

namespace shoal {

class TrainData {
 public:
  // needed_samples: how far a run may get. Throws UserError if the data cannot give them. Of each global
  // batch it takes the rows of one replica (data/rank_rows.h).
  TrainData(const RunSpec& spec, int64_t needed_samples, int replicas = 1, int replica = 0);

  // Of batches of batch.global samples from sample `consumed` on, as many as `batches`, this
  // replica's rows pass by pass, made ahead in a thread.
  void start(int64_t consumed, int64_t batches);
  HostBatch next() { return prefetcher_->next(); }
  double seconds_waited() const { return prefetcher_->seconds_waited(); }

  bool masked() const { return goldfish_.enabled(); }
  const SampleSource& source() const { return *source_; }

 private:
  int64_t global_batch_;
  std::vector<int64_t> rows_;  // of a global batch
  std::unique_ptr<SampleSource> source_;
  Goldfish goldfish_;
  std::unique_ptr<Prefetcher> prefetcher_;
};

// run.steps whole batches, and what rollbacks may skip over.
int64_t samples_needed(const RunSpec& spec);

}  // namespace shoal
