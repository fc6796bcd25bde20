#include <doctest/doctest.h>

#include "model/golden.h"
#include "model/tiny.h"

using namespace shoal;

namespace {

std::vector<float> last_logits(const std::vector<float>& all, int64_t B, int64_t T, int64_t V, int64_t t) {
  std::vector<float> out;
  for (int64_t b = 0; b < B; ++b) {
    const auto begin = all.begin() + (b * T + t) * V;
    out.insert(out.end(), begin, begin + V);
  }
  return out;
}

}  // namespace

TEST_CASE("steps through the key-value cache give the logits of the whole forward pass") {
  for (const ModelConfig& config : {tiny_neox(), tiny_llama()}) {
    for (DType compute : {DType::f32, DType::bf16}) {
      constexpr int64_t B = 2, T = 17;
      TestModel test(config, compute);
      const TestBatch batch(B, T, config.vocab_size);
      const auto all = test.values(test.model.logits(batch.tokens.data(), B, T));

      KeyValueCache cache(config, test.context, B, T);
      int64_t position = 0;
      for (int64_t count : {9, 1, 1, 5, 1}) {  // a prefill, decoding, a longer piece in between
        std::vector<int32_t> piece;
        for (int64_t b = 0; b < B; ++b) {
          for (int64_t t = 0; t < count; ++t) {
            piece.push_back(batch.tokens[static_cast<size_t>(b * T + position + t)]);
          }
        }
        const auto logits = test.values(test.model.step(piece.data(), count, cache));
        position += count;
        CHECK(cache.length() == position);
        const auto expected = last_logits(all, B, T, config.vocab_size, position - 1);
        CHECK(distance(logits, expected) < (compute == DType::f32 ? 2e-6 : 0.02));
      }

      cache.clear();
      const auto again = test.values(test.model.step(batch.tokens.data(), 1, cache));
      CHECK(again.size() == static_cast<size_t>(B * config.vocab_size));
    }
  }
}
