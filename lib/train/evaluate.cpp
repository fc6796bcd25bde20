#include "train/evaluate.h"

#include <algorithm>
#include <vector>

#include "train/batch_gradient.h"

namespace shoal {

namespace {

constexpr int32_t ignored = -1;

// Windows of seq_length + 1 tokens, window i being read by read_row; ids of -1 pad a short one.
template <typename ReadRow>
std::optional<LossSums> evaluate_rows(Decoder& model, int64_t count, int64_t seq_length,
                                      const EvalOptions& options, ReadRow read_row) {
  const int64_t end = options.batches > 0 ? std::min(count, options.batches * options.micro) : count;
  std::vector<int32_t> row(size_t(seq_length) + 1);
  std::vector<int32_t> tokens(size_t(options.micro * seq_length)), targets(tokens.size());
  LossSums sums;
  const int64_t step = options.micro * (options.replicas != nullptr ? options.replicas->size() : 1);
  for (int64_t start = 0; start < end; start += step) {
    if (options.stop && options.stop()) return std::nullopt;
    const int64_t first =
        start + options.micro * (options.replicas != nullptr ? options.replicas->rank() : 0);
    const int64_t filled = std::clamp<int64_t>(end - first, 0, options.micro);
    const int64_t rows = options.replicas != nullptr ? options.micro : filled;
    for (int64_t r = 0; r < rows; ++r) {
      if (r < filled) {
        read_row(first + r, row.data());
      } else {
        std::fill(row.begin(), row.end(), ignored);
      }
      const auto at = r * seq_length;
      std::transform(row.begin(), row.end() - 1, tokens.begin() + at,
                     [](int32_t id) { return std::max(id, 0); });
      std::copy(row.begin() + 1, row.end(), targets.begin() + at);
    }
    const LossSums pass = model.evaluate(Batch{rows, seq_length, tokens.data(), targets.data(), nullptr});
    sums += options.replicas != nullptr ? sum_in_order({pass}, *options.replicas) : pass;
  }
  return sums;
}

}  // namespace

std::optional<LossSums> evaluate(Decoder& model, const SampleSource& samples, const EvalOptions& options) {
  return evaluate_rows(model, samples.size(), samples.seq_length(), options,
                       [&](int64_t i, int32_t* row) { samples.read(i, row); });
}

std::optional<LossSums> evaluate(Decoder& model, const TokenStream& stream, int64_t seq_length,
                                 const EvalOptions& options) {
  const int64_t targets = std::max<int64_t>(stream.size - 1, 0);
  const int64_t windows = (targets + seq_length - 1) / seq_length;
  return evaluate_rows(model, windows, seq_length, options, [&](int64_t i, int32_t* row) {
    const int64_t first = i * seq_length, count = std::min(seq_length + 1, stream.size - first);
    stream.read(first, count, row);
    std::fill(row + count, row + seq_length + 1, ignored);
  });
}

}  // namespace shoal
