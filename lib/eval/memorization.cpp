#include "eval/memorization.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "eval/rouge.h"

namespace shoal {
namespace {

// Sequences of one prompt length, waiting for a full batch.
struct Waiting {
  std::vector<int64_t> indices;
  std::vector<int32_t> prompts, truths;
};

class Extractor {
 public:
  Extractor(Decoder& model, Context& context, const Extraction& extraction)
      : model_(model), context_(context), extraction_(extraction) {}

  void add(int64_t index, const std::vector<int32_t>& tokens) {
    const int64_t made = extraction_.continuation;
    const int64_t length = extraction_.prompt > 0 ? extraction_.prompt : int64_t(tokens.size()) - made;
    if (length < 1 || length + made > int64_t(tokens.size())) return;
    Waiting& batch = waiting_[length];
    batch.indices.push_back(index);
    batch.prompts.insert(batch.prompts.end(), tokens.begin(), tokens.begin() + length);
    batch.truths.insert(batch.truths.end(), tokens.begin() + length, tokens.begin() + length + made);
    if (int64_t(batch.indices.size()) == extraction_.batch) score(length, batch);
  }

  std::vector<ExtractionScore> finish() {
    for (auto& [length, batch] : waiting_) {
      if (!batch.indices.empty()) score(length, batch);
    }
    std::sort(scores_.begin(), scores_.end(), [](auto& a, auto& b) { return a.index < b.index; });
    return std::move(scores_);
  }

 private:
  void score(int64_t length, Waiting& batch) {
    const auto count = size_t(extraction_.continuation);
    const std::vector<int32_t> made =
        continue_greedily(model_, context_, batch.prompts, int64_t(batch.indices.size()), length,
                          extraction_.continuation, extraction_.greedy);
    for (size_t i = 0; i < batch.indices.size(); ++i) {
      const auto truth = std::span(batch.truths).subspan(i * count, count);
      const auto guess = std::span(made).subspan(i * count, count);
      int64_t right = 0;
      for (size_t j = 0; j < count; ++j) right += truth[j] == guess[j];
      scores_.push_back({batch.indices[i], double(right) / double(count), rouge_l(truth, guess)});
    }
    batch = {};
    if (extraction_.on_progress) extraction_.on_progress(int64_t(scores_.size()));
  }

  Decoder& model_;
  Context& context_;
  const Extraction& extraction_;
  std::map<int64_t, Waiting> waiting_;
  std::vector<ExtractionScore> scores_;
};

}  // namespace

std::vector<ExtractionScore> extract(Decoder& model, Context& context, const Sequences& sequences,
                                     const Extraction& extraction) {
  SHOAL_CHECK(extraction.continuation > 0 && extraction.batch > 0);
  Extractor extractor(model, context, extraction);
  for (int64_t i = sequences.first; i < sequences.end; ++i) extractor.add(i, sequences.read(i));
  return extractor.finish();
}

}  // namespace shoal
