#include "data/bpe/trainer.h"

#include <algorithm>
#include <queue>

#include "base/error.h"
#include "data/bpe/byte_alphabet.h"

namespace shoal {

namespace {

// The words of the corpus as sequences of token ids, and how often each pair of neighbours occurs in them.
class PairTable {
 public:
  using Pair = uint64_t;  // left << 32 | right: pairs order like (left, right)
  static Pair pair_of(int32_t left, int32_t right) { return Pair(uint32_t(left)) << 32 | uint32_t(right); }
  static int32_t left(Pair pair) { return int32_t(pair >> 32); }
  static int32_t right(Pair pair) { return int32_t(pair & 0xffffffff); }

  void add_word(const std::vector<int32_t>& ids, int64_t count) {
    words_.push_back({ids_.size(), ids.size(), count});
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    for (size_t i = 0; i + 1 < ids.size(); ++i) change(pair_of(ids[i], ids[i + 1]), words_.size() - 1, count);
  }

  int64_t count(Pair pair) const {
    const auto found = pairs_.find(pair);
    return found == pairs_.end() ? 0 : found->second.count;
  }

  std::vector<Pair> pairs() const {
    std::vector<Pair> result;
    for (const auto& [pair, info] : pairs_) result.push_back(pair);
    return result;
  }

  // Writes `token` for the pair everywhere and returns the pairs that have become more frequent.
  std::vector<Pair> merge(Pair pair, int32_t token) {
    const std::vector<uint32_t> where = std::move(pairs_[pair].words);
    pairs_.erase(pair);
    grown_.clear();
    for (uint32_t w : where) merge_in(w, pair, token);
    std::sort(grown_.begin(), grown_.end());
    grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
    return grown_;
  }

 private:
  struct Word {
    size_t begin, length;
    int64_t count;
  };
  struct Info {
    int64_t count = 0;
    std::vector<uint32_t> words;  // that may hold the pair
  };
  struct Hash {
    size_t operator()(Pair pair) const { return (pair ^ (pair >> 31)) * 0x9e3779b97f4a7c15ULL >> 16; }
  };

  void change(Pair pair, size_t word, int64_t by) {
    Info& info = pairs_[pair];
    info.count += by;
    if (by < 0) return;
    if (info.words.empty() || info.words.back() != word) info.words.push_back(uint32_t(word));
    grown_.push_back(pair);
  }

  void merge_in(uint32_t w, Pair pair, int32_t token) {
    Word& word = words_[w];
    int32_t* ids = &ids_[word.begin];
    const int32_t first = left(pair), second = right(pair);
    size_t out = 0;
    for (size_t i = 0; i < word.length; ++i) {
      if (i + 1 == word.length || ids[i] != first || ids[i + 1] != second) {
        ids[out++] = ids[i];
        continue;
      }
      if (out > 0) {
        change(pair_of(ids[out - 1], first), w, -word.count);
        change(pair_of(ids[out - 1], token), w, word.count);
      }
      if (i + 2 < word.length) {
        change(pair_of(second, ids[i + 2]), w, -word.count);
        change(pair_of(token, ids[i + 2]), w, word.count);
      }
      ids[out++] = token;
      ++i;
    }
    word.length = out;
  }

  std::vector<int32_t> ids_;
  std::vector<Word> words_;
  std::unordered_map<Pair, Info, Hash> pairs_;
  std::vector<Pair> grown_;
};

struct Candidate {
  int64_t count;
  PairTable::Pair pair;
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

// Ids 0 and 1 to 256.
void add_base_vocabulary(const TrainerSettings& settings, BpeDescription& description) {
  AddedToken end;
  end.content = settings.end_of_document;
  end.special = true;
  description.added.push_back(end);
  description.vocab.push_back({settings.end_of_document, 0});
  std::vector<int> bytes(256);
  for (int byte = 0; byte < 256; ++byte) bytes[size_t(byte)] = byte;
  std::sort(bytes.begin(), bytes.end(), [](int a, int b) {
    return spelling_of_byte(static_cast<unsigned char>(a)) < spelling_of_byte(static_cast<unsigned char>(b));
  });
  for (int byte : bytes)
    description.vocab.push_back({std::string(1, char(byte)), int32_t(description.vocab.size())});
}

}  // namespace

PieceCounts::PieceCounts(const std::vector<NormalForm>& forms)
    : normalizer_(forms), pre_tokenizer_({{SplitStep::Kind::gpt2, ""}}) {}

void PieceCounts::add(std::string_view text) {
  pre_tokenizer_.split(normalizer_(text, normalized_), state_, [&](std::string_view piece) {
    const auto found = counts_.find(piece);
    if (found != counts_.end()) {
      ++found->second;
    } else {
      counts_.emplace(piece, 1);
    }
  });
}

void PieceCounts::add(const PieceCounts& other) {
  for (const auto& [piece, count] : other.counts_) counts_[piece] += count;
}

BpeDescription train_bpe(const PieceCounts::Map& counts, const TrainerSettings& settings,
                         const std::function<void(int64_t)>& progress) {
  constexpr int64_t kBase = 257;
  if (settings.vocab_size < kBase) {
    throw UserError(Problem{"is too small", "vocabulary size", fmt::format("{}", settings.vocab_size),
                            "257 or more: every byte and the end of a document", ""});
  }
  BpeDescription description;
  description.normal_forms = settings.normal_forms;
  description.steps.push_back({SplitStep::Kind::gpt2, ""});
  add_base_vocabulary(settings, description);
  std::unordered_map<std::string, int32_t> ids;
  for (const auto& token : description.vocab) {
    if (token.id > 0) ids.emplace(token.bytes, token.id);
  }

  PairTable table;
  std::vector<int32_t> word;
  for (const auto& [piece, count] : counts) {
    word.clear();
    for (char c : piece) word.push_back(ids.at(std::string(1, c)));
    table.add_word(word, count);
  }
  std::priority_queue<Candidate> open;
  for (const auto pair : table.pairs()) open.push({table.count(pair), pair});

  while (int64_t(description.vocab.size()) < settings.vocab_size && !open.empty()) {
    const Candidate best = open.top();
    open.pop();
    const int64_t now = table.count(best.pair);
    if (now < std::max<int64_t>(settings.min_count, 1)) continue;
    if (now != best.count) {  // it has lost occurrences since it was put in
      open.push({now, best.pair});
      continue;
    }
    const int32_t left = PairTable::left(best.pair), right = PairTable::right(best.pair);
    const std::string bytes = description.vocab[size_t(left)].bytes + description.vocab[size_t(right)].bytes;
    const auto [found, is_new] = ids.emplace(bytes, int32_t(description.vocab.size()));
    if (is_new) description.vocab.push_back({bytes, found->second});  // else: two ways to the same token
    description.merges.push_back({left, right, found->second});
    for (const auto pair : table.merge(best.pair, found->second)) open.push({table.count(pair), pair});
    if (progress) progress(int64_t(description.vocab.size()));
  }
  return description;
}

}  // namespace shoal
