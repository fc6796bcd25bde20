// The plain cross-entropy of a model over samples or over a stream of tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "comm/communicator.h"
#include "data/dataset.h"
#include "model/decoder.h"

namespace shoal {

struct EvalOptions {
  int64_t micro = 8;                // rows a pass
  int64_t batches = 0;              // passes at most; 0: all
  std::function<bool()> stop = {};  // asked before each pass
  // On a grid: the ranks that take passes in turn, all of `micro` rows, the last ones filled with ignored
  // ones. Null: this rank alone.
  Communicator* replicas = nullptr;
};

// Sums over the samples in order, the last pass with what is left. Nothing if it was stopped.
std::optional<LossSums> evaluate(Decoder& model, const SampleSource& samples, const EvalOptions& options);

// A stream of `size` tokens, read in windows of seq_length + 1 that share one token: every token but the
// first is a target once, with at most seq_length - 1 tokens of context before it; the last window may be
// short.
struct TokenStream {
  int64_t size = 0;
  std::function<void(int64_t first, int64_t count, int32_t* out)> read;
};
std::optional<LossSums> evaluate(Decoder& model, const TokenStream& stream, int64_t seq_length,
                                 const EvalOptions& options);

}  // namespace shoal
