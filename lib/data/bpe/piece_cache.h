// Remembers the ids of short pieces: most of a text is a few thousand words. One for each thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace shoal {

// Direct-mapped; a new piece takes the place of the one it collides with.
class PieceCache {
 public:
  static constexpr size_t kLongestPiece = 23, kMostIds = 9;

  // 24 bytes hold the piece, zero-filled, with its length in the last one.
  struct Key {
    std::array<uint64_t, 3> words{};
    bool operator==(const Key&) const = default;
  };
  struct alignas(64) Entry {
    Key key;
    uint32_t count = 0;
    std::array<int32_t, kMostIds> ids{};
  };

  PieceCache() : entries_(kEntries) {}

  static Key key_of(std::string_view piece) {
    Key key;
    std::memcpy(key.words.data(), piece.data(), piece.size());
    key.words[2] |= uint64_t(piece.size()) << 56;
    return key;
  }

  Entry& entry_of(const Key& key) {
    const uint64_t mixed = (key.words[0] * 0x9e3779b97f4a7c15ULL) ^ (key.words[1] * 0xc2b2ae3d27d4eb4fULL) ^
                           (key.words[2] * 0x165667b19e3779f9ULL);
    return entries_[(mixed ^ (mixed >> 29)) * 0xff51afd7ed558ccdULL >> (64 - kBits)];
  }

 private:
  static constexpr int kBits = 15;
  static constexpr size_t kEntries = size_t(1) << kBits;
  std::vector<Entry> entries_;
};

}  // namespace shoal
