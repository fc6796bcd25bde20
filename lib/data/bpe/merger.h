// Byte-pair encoding of one piece (Sennrich et al., "Neural machine translation of rare words with subword
// units", ACL 2016): the adjacent pair of the lowest rank is merged, the leftmost first, until no pair is
// known.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/bpe/description.h"

namespace shoal {

class Merger {
 public:
  explicit Merger(const BpeDescription& description);

  // Appends the ids of a piece.
  void append(std::string_view piece, std::vector<int32_t>& ids) const;

 private:
  static constexpr uint32_t kNoRank = 0xffffffff;
  struct Slot {
    uint64_t pair = 0;  // left << 32 | right
    uint32_t rank = kNoRank;
    int32_t result = 0;
  };
  const Slot* find(int32_t left, int32_t right) const;
  uint32_t rank_of(int32_t left, int32_t right) const {
    const Slot* slot = find(left, right);
    return slot != nullptr ? slot->rank : kNoRank;
  }
  void merge_short(std::string_view piece, std::vector<int32_t>& ids) const;
  void merge_long(std::string_view piece, std::vector<int32_t>& ids) const;

  std::array<int32_t, 256> byte_ids_{};
  std::vector<Slot> slots_;  // open addressing, a power of two
  int shift_ = 64;
  std::vector<int32_t> results_;                    // by rank
  std::unordered_map<std::string, int32_t> whole_;  // with ignore_merges: every token
};

}  // namespace shoal
