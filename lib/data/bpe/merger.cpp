#include "data/bpe/merger.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <queue>

namespace shoal {

namespace {

constexpr size_t kShort = 128;  // up to this length a scan for the lowest rank beats a heap

uint64_t pair_of(int32_t left, int32_t right) {
  return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
}

}  // namespace

Merger::Merger(const BpeDescription& description) {
  for (const auto& token : description.vocab) {
    if (token.bytes.size() == 1) byte_ids_[static_cast<unsigned char>(token.bytes[0])] = token.id;
    if (description.ignore_merges) whole_.emplace(token.bytes, token.id);
  }
  const size_t size = std::bit_ceil(std::max<size_t>(description.merges.size() * 2, 16));
  slots_.resize(size);
  shift_ = 64 - std::countr_zero(size);
  for (const auto& merge : description.merges) {
    const uint64_t pair = pair_of(merge.left, merge.right);
    size_t at = (pair * 0x9e3779b97f4a7c15ULL) >> shift_;
    while (slots_[at].rank != kNoRank && slots_[at].pair != pair) at = (at + 1) & (size - 1);
    slots_[at] = {pair, uint32_t(results_.size()), merge.result};  // a merge given twice has its last rank
    results_.push_back(merge.result);
  }
}

const Merger::Slot* Merger::find(int32_t left, int32_t right) const {
  const uint64_t pair = pair_of(left, right);
  for (size_t at = (pair * 0x9e3779b97f4a7c15ULL) >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].rank == kNoRank) return nullptr;
    if (slots_[at].pair == pair) return &slots_[at];
  }
}

void Merger::append(std::string_view piece, std::vector<int32_t>& ids) const {
  if (!whole_.empty()) {
    if (const auto found = whole_.find(std::string(piece)); found != whole_.end()) {
      ids.push_back(found->second);
      return;
    }
  }
  if (piece.size() <= kShort) {
    merge_short(piece, ids);
  } else {
    merge_long(piece, ids);
  }
}

void Merger::merge_short(std::string_view piece, std::vector<int32_t>& ids) const {
  int32_t parts[kShort];
  uint32_t ranks[kShort];  // of the pair that begins at a part
  size_t count = piece.size();
  for (size_t i = 0; i < count; ++i) parts[i] = byte_ids_[static_cast<unsigned char>(piece[i])];
  for (size_t i = 0; i + 1 < count; ++i) ranks[i] = rank_of(parts[i], parts[i + 1]);
  while (count > 1) {
    const size_t pairs = count - 1;
    uint32_t lowest = kNoRank;
    for (size_t i = 0; i < pairs; ++i) lowest = std::min(lowest, ranks[i]);
    if (lowest == kNoRank) break;
    size_t at = 0;
    while (ranks[at] != lowest) ++at;
    parts[at] = results_[lowest];
    std::memmove(parts + at + 1, parts + at + 2, (count - at - 2) * sizeof parts[0]);
    std::memmove(ranks + at, ranks + at + 1, (pairs - at - 1) * sizeof ranks[0]);
    --count;
    if (at + 1 < count) ranks[at] = rank_of(parts[at], parts[at + 1]);
    if (at > 0) ranks[at - 1] = rank_of(parts[at - 1], parts[at]);
  }
  ids.insert(ids.end(), parts, parts + count);
}

void Merger::merge_long(std::string_view piece, std::vector<int32_t>& ids) const {
  constexpr size_t kNone = ~size_t(0);
  struct Part {
    int32_t id;
    size_t previous, next;
  };
  struct Candidate {
    uint32_t rank;
    size_t at;
    uint64_t pair;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  std::vector<Part> parts(piece.size());
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> open;
  const auto offer = [&](size_t at) {
    const size_t next = parts[at].next;
    if (next == kNone) return;
    const uint32_t rank = rank_of(parts[at].id, parts[next].id);
    if (rank != kNoRank) open.push({rank, at, pair_of(parts[at].id, parts[next].id)});
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i] = {byte_ids_[static_cast<unsigned char>(piece[i])], i == 0 ? kNone : i - 1,
                i + 1 == parts.size() ? kNone : i + 1};
  }
  for (size_t i = 0; i < parts.size(); ++i) offer(i);
  while (!open.empty()) {
    const Candidate best = open.top();
    open.pop();
    Part& left = parts[best.at];
    if (left.id < 0 || left.next == kNone) continue;  // merged away, or at the end
    Part& right = parts[left.next];
    if (pair_of(left.id, right.id) != best.pair) continue;  // one of the two has changed
    left.id = results_[best.rank];
    right.id = -1;
    left.next = right.next;
    if (left.next != kNone) parts[left.next].previous = best.at;
    offer(best.at);
    if (left.previous != kNone) offer(left.previous);
  }
  for (size_t at = 0; at != kNone; at = parts[at].next) ids.push_back(parts[at].id);
}

}  // namespace shoal
