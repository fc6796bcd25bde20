#include "data/batch.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace shoal {

HostBatch make_batch(const SampleSource& source, std::span<const int64_t> samples, const Goldfish* goldfish) {
  const auto rows = static_cast<int64_t>(samples.size());
  HostBatch batch;
  batch.rows = rows;
  batch.seq_length = source.seq_length();
  const auto seq_length = size_t(batch.seq_length), count = size_t(rows) * seq_length;
  batch.tokens.resize(count);
  batch.targets.resize(count);
  batch.weights.assign(count, 1.0f);
  std::vector<int32_t> row(seq_length + 1);
  for (size_t r = 0; r < size_t(rows); ++r) {
    const int64_t sample = samples[r];
    if (sample < 0 || sample >= source.size()) {
      runtime_failure("sample {} is asked for, and the data have {}", sample, source.size());
    }
    source.read(sample, row.data());
    std::copy_n(row.data(), seq_length, &batch.tokens[r * seq_length]);
    std::copy_n(row.data() + 1, seq_length, &batch.targets[r * seq_length]);
    batch.kept += goldfish == nullptr
                      ? batch.seq_length
                      : goldfish->mask(sample, row.data(), batch.seq_length, &batch.weights[r * seq_length]);
  }
  return batch;
}

HostBatch make_batch(const SampleSource& source, int64_t first_sample, int64_t rows,
                     const Goldfish* goldfish) {
  if (first_sample < 0 || rows < 0 || first_sample + rows > source.size()) {
    runtime_failure("samples {} to {} are asked for, and the data have {}", first_sample, first_sample + rows,
                    source.size());
  }
  std::vector<int64_t> samples(static_cast<size_t>(rows));
  std::iota(samples.begin(), samples.end(), first_sample);
  return make_batch(source, samples, goldfish);
}

}  // namespace shoal
