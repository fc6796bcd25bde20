#include "eval/greedy.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace shoal {

std::vector<int32_t> continue_greedily(Decoder& model, Context& context, const std::vector<int32_t>& prompts,
                                       int64_t rows, int64_t length, int64_t count,
                                       const GreedyOptions& options) {
  SHOAL_CHECK(rows > 0 && length > 0 && int64_t(prompts.size()) == rows * length);
  const auto vocab = size_t(model.config().vocab_size);
  const size_t choices = options.vocab_size > 0 ? std::min(size_t(options.vocab_size), vocab) : vocab;
  KeyValueCache cache(model.config(), context, rows, length + count);
  std::vector<float> logits(size_t(rows) * vocab);
  std::vector<int32_t> next(static_cast<size_t>(rows)), made(size_t(rows * count));
  for (int64_t n = 0; n < count; ++n) {
    const Tensor last =
        n == 0 ? model.step(prompts.data(), length, cache) : model.step(next.data(), 1, cache);
    context.device.to_host(logits.data(), last.view().data, last.view().bytes());
    for (size_t r = 0; r < next.size(); ++r) {
      float* row = &logits[r * vocab];
      if (options.banned >= 0) row[options.banned] = -std::numeric_limits<float>::infinity();
      next[r] = int32_t(std::max_element(row, row + choices) - row);
      made[r * size_t(count) + size_t(n)] = next[r];
    }
  }
  return made;
}

}  // namespace shoal
