// Assembling batches from a source of samples.
#pragma once

#include <cstdint>

#include "data/dataset.h"
#include "data/goldfish.h"

namespace shoal {

// Samples [first_sample, first_sample + rows) of the source. goldfish may be null: every target is kept.
// Validation passes null: its loss is always the plain one.
HostBatch make_batch(const SampleSource& source, int64_t first_sample, int64_t rows,
                     const Goldfish* goldfish);

}  // namespace shoal
