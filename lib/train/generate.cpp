#include "train/generate.h"

#include "base/check.h"
#include "base/philox.h"

namespace shoal {

std::vector<int32_t> generate(Decoder& model, Context& context, const std::vector<int32_t>& prompt,
                              const GenerateOptions& options) {
  SHOAL_CHECK(!prompt.empty());
  const int64_t vocab = model.config().vocab_size;
  const int64_t choices = options.vocab_size > 0 ? options.vocab_size : vocab;
  SHOAL_CHECK(choices <= vocab);
  KeyValueCache cache(model.config(), context, 1, int64_t(prompt.size()) + options.tokens);
  const Philox draws(options.seed, "generate");
  std::vector<float> logits(static_cast<size_t>(vocab));
  std::vector<int32_t> made;
  for (int64_t n = 0; n < options.tokens; ++n) {
    const Tensor row = n == 0 ? model.step(prompt.data(), int64_t(prompt.size()), cache)
                              : model.step(&made.back(), 1, cache);
    context.device.to_host(logits.data(), row.view().data, row.view().bytes());
    made.push_back(sample({logits.data(), size_t(choices)}, options.sampling, draws.uniform(uint64_t(n))));
    if (options.on_token && !options.on_token(made.back())) break;
    if (made.back() == options.end) break;
  }
  return made;
}

}  // namespace shoal
