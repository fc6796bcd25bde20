// Continuing a prompt, token by token, with a key-value cache.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "layers/context.h"
#include "model/decoder.h"
#include "train/sampling.h"

namespace shoal {

struct GenerateOptions {
  int64_t tokens = 100;  // at most so many are made
  Sampling sampling;
  uint64_t seed = 1234;    // draw n of Philox(seed, "generate") chooses token n
  int64_t vocab_size = 0;  // ids at or past it (the padding of the vocabulary) are never chosen; 0: all
  int32_t end = -1;        // stop after this token; -1: none
  std::function<bool(int32_t)> on_token = {};  // sees each token at once; false stops
};

// The tokens that follow a prompt of at least one token. The cache holds prompt and continuation whole:
// positions past what the model was trained on are the caller's risk.
std::vector<int32_t> generate(Decoder& model, Context& context, const std::vector<int32_t>& prompt,
                              const GenerateOptions& options);

}  // namespace shoal
