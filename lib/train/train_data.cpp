#include "train/train_data.h"

#include <algorithm>

#include "base/error.h"
#include "data/rank_rows.h"

namespace shoal {

namespace {

constexpr int64_t batches_ahead = 2;

uint64_t data_seed(const RunSpec& spec) {
  return spec.data.seed >= 0 ? uint64_t(spec.data.seed) : spec.run.seed;
}

}  // namespace

TrainData::TrainData(const RunSpec& spec, int64_t needed_samples, int replicas, int replica)
    : global_batch_(spec.batch.global),
      rows_(samples_of(0, spec.batch.global, spec.batch.micro, replicas, replica)),
      source_(open_split(spec, Split::train, needed_samples)),
      goldfish_(spec.loss.goldfish, data_seed(spec)) {
  if (source_ == nullptr) {
    throw UserError(Problem{.what = "there is nothing to train on",
                            .where = "data.train",
                            .value = "",
                            .allowed = "a list of {path, weight}",
                            .hint = ""});
  }
}

void TrainData::start(int64_t consumed, int64_t batches) {
  prefetcher_.reset();  // its thread reads the source
  const Goldfish* mask = goldfish_.enabled() ? &goldfish_ : nullptr;
  const auto make = [this, consumed, mask](int64_t n) {
    std::vector<int64_t> samples = rows_;
    for (int64_t& sample : samples) sample += consumed + n * global_batch_;
    return make_batch(*source_, samples, mask);
  };
  prefetcher_ = std::make_unique<Prefetcher>(make, 0, batches, batches_ahead);
}

int64_t samples_needed(const RunSpec& spec) {
  int64_t batches = spec.run.steps;
  if (spec.guard.policy == "rollback") {
    // A rollback drops the batches since the last checkpoint.
    const int64_t distance =
        spec.checkpoint.every > 0 ? std::min(spec.checkpoint.every, spec.run.steps) : spec.run.steps;
    batches += spec.guard.max_rollbacks * (distance + 1);
  }
  return batches * spec.batch.global;
}

}  // namespace shoal
