// How much of its training data a model gives back under greedy decoding.
//
// extractable scores: (k, l)-extractability after Carlini et al. (arXiv 2202.07646) as Biderman et al. (arXiv
//   2304.11158) measure it: the share of the l tokens behind the first k of a sequence that come out right;
//   memorized means 1.
// verbatim endings: the protocol of Singh et al. (SC24, arXiv 2502.08145): the last n tokens of a sequence
// from
//   all before them; memorized means all n right. RougeL beside it, as Hans et al. (arXiv 2406.10209) give
//   it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "eval/greedy.h"

namespace shoal {

// Sequences by number; any lengths.
struct Sequences {
  int64_t first = 0, end = 0;
  std::function<std::vector<int32_t>(int64_t)> read;
};

struct ExtractionScore {
  int64_t index = 0;
  double matched = 0;  // share of the continuation that is right, token by token
  double rouge_l = 0;
  bool exact() const { return matched == 1; }
};

struct Extraction {
  int64_t prompt = 32;        // tokens from the beginning of a sequence; 0: all before the continuation
  int64_t continuation = 32;  // tokens to make; with prompt 0 the last ones of a sequence
  int64_t batch = 64;         // sequences at once
  GreedyOptions greedy;
  std::function<void(int64_t done)> on_progress = {};
};

// A score for each sequence that is long enough, in order of their numbers.
std::vector<ExtractionScore> extract(Decoder& model, Context& context, const Sequences& sequences,
                                     const Extraction& extraction);

}  // namespace shoal
