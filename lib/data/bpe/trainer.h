// Learns a byte-level BPE vocabulary from text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/bpe/description.h"
#include "data/bpe/normalizer.h"
#include "data/bpe/pre_tokenizer.h"

namespace shoal {

// How often each piece of the GPT-2 pattern occurs. One for each thread; then they are added up.
class PieceCounts {
 public:
  explicit PieceCounts(const std::vector<NormalForm>& forms);

  void add(std::string_view text);  // valid UTF-8
  void add(const PieceCounts& other);

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Map = std::unordered_map<std::string, int64_t, Hash, std::equal_to<>>;
  const Map& counts() const { return counts_; }

 private:
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  PreTokenizer::State state_;
  std::string normalized_;
  Map counts_;
};

struct TrainerSettings {
  int64_t vocab_size = 0;  // with the 256 bytes and the end of a document
  int64_t min_count = 2;   // pairs that occur less often are not merged
  std::string end_of_document = "<|endoftext|>";
  std::vector<NormalForm> normal_forms;
};

// Merges the most frequent pair, of equals the one of the lower ids, until the vocabulary is full or no pair
// is left: the vocabulary may end smaller. Ids: the end of a document 0, the bytes 1 to 256 in the order of
// the byte alphabet, then the merges. The merges are those of the Hugging Face trainer with the same
// settings. Throws UserError if vocab_size is below 257. progress (may be empty) is called with the number of
// tokens so far.
BpeDescription train_bpe(const PieceCounts::Map& counts, const TrainerSettings& settings,
                         const std::function<void(int64_t)>& progress);

}  // namespace shoal
