#include "data_tools/show_batch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "base/error.h"
#include "data/npy.h"
#include "data/rank_rows.h"

namespace shoal {
namespace {

std::vector<int64_t> samples_of_rank(const RunSpec& spec, int64_t step, int64_t rank) {
  const Grid grid{
      {int(spec.parallel.x), int(spec.parallel.y), int(spec.parallel.z), int(spec.parallel.data)}};
  if (rank < 0 || rank >= grid.ranks()) {
    throw UserError(Problem{"there is no such rank", "--rank", fmt::format("{}", rank),
                            fmt::format("0 to {}, by the spec's parallel section", grid.ranks() - 1), ""});
  }
  const int replica = replica_of(grid, coordinates_of(grid, int(rank)));
  return samples_of(step, spec.batch.global, spec.batch.micro, num_replicas(grid), replica);
}

std::span<const int32_t> row(const BatchRows& batch, size_t i) {
  return std::span(batch.tokens).subspan(i * size_t(batch.length), size_t(batch.length));
}

}  // namespace

BatchRows batch_of(const RunSpec& spec, const SampleSource& source, int64_t step,
                   std::optional<int64_t> rank) {
  const int64_t steps = source.size() / spec.batch.global;
  if (step < 0 || step >= steps) {
    throw UserError(Problem{"there are no data for this step", "--step", fmt::format("{}", step),
                            fmt::format("0 to {}", steps - 1), ""});
  }
  BatchRows batch;
  batch.length = source.seq_length() + 1;
  if (rank) {
    batch.samples = samples_of_rank(spec, step, *rank);
  } else {
    batch.samples.resize(size_t(spec.batch.global));
    std::iota(batch.samples.begin(), batch.samples.end(), step * spec.batch.global);
  }
  batch.tokens.resize(batch.samples.size() * size_t(batch.length));
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    source.read(batch.samples[i], &batch.tokens[i * size_t(batch.length)]);
  }
  return batch;
}

std::string ids_text(const BatchRows& batch) {
  std::string text;
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    text += fmt::format("{}: {}\n", batch.samples[i], fmt::join(row(batch, i), " "));
  }
  return text;
}

std::string decoded_text(const BatchRows& batch, const Tokenizer& tokenizer) {
  std::string text;
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    const auto ids = row(batch, i);
    text += fmt::format("--- sample {}\n{}\n", batch.samples[i],
                        tokenizer.decode(std::vector<int32_t>(ids.begin(), ids.end())));
  }
  return text;
}

void write_batch_npy(const BatchRows& batch, const std::string& path) {
  const std::vector<int64_t> shape{int64_t(batch.samples.size()), batch.length};
  const bool fits =
      std::all_of(batch.tokens.begin(), batch.tokens.end(), [](int32_t id) { return id <= UINT16_MAX; });
  if (!fits) return write_npy<int32_t>(path, shape, batch.tokens);
  const std::vector<uint16_t> narrow(batch.tokens.begin(), batch.tokens.end());
  write_npy<uint16_t>(path, shape, narrow);
}

}  // namespace shoal
