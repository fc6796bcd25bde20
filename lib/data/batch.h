// Assembling batches from a source of samples.
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.h"
#include "data/goldfish.h"

namespace shoal {

// These samples of the source, in this order. goldfish may be null: every target is kept.
HostBatch make_batch(const SampleSource& source, std::span<const int64_t> samples, const Goldfish* goldfish);

// Samples [first_sample, first_sample + rows) of the source.
// Validation passes null: its loss is always the plain one.
HostBatch make_batch(const SampleSource& source, int64_t first_sample, int64_t rows,
                     const Goldfish* goldfish);

}  // namespace shoal
