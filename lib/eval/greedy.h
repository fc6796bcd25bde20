// Greedy continuation of many prompts at once.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/context.h"
#include "model/decoder.h"

namespace shoal {

struct GreedyOptions {
  int64_t vocab_size = 0;  // ids at or past it (the padding of the vocabulary) are never chosen; 0: all
  int32_t banned = -1;     // never chosen: the end of a document
};

// The most likely next token `count` times for each of `rows` prompts of `length` tokens, with a key-value
// cache; of equal logits the first. Returns [rows, count].
std::vector<int32_t> continue_greedily(Decoder& model, Context& context, const std::vector<int32_t>& prompts,
                                       int64_t rows, int64_t length, int64_t count,
                                       const GreedyOptions& options);

}  // namespace shoal
