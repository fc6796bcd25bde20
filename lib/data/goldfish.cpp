#include "data/goldfish.h"

#include <algorithm>
#include <random>

#include "base/error.h"
#include "base/philox.h"

namespace shoal {

namespace {

constexpr int64_t kTableSize = 1000003;
constexpr uint32_t kTableSeed = 2971215073;

}  // namespace

std::vector<float> goldfish_hash_table() {
  std::mt19937 generator(kTableSeed);
  std::vector<float> table(kTableSize);
  for (float& entry : table) entry = float(generator() & 0xffffff) * 0x1.0p-24f;
  return table;
}

uint32_t goldfish_avalanche(uint64_t key) {
  constexpr uint64_t kMask = 0xffffffff;
  key = (~key + (key << 21)) & kMask;
  key = (key << 21) - key - 1;
  key ^= key >> 24;
  key = (key + (key << 3) + (key << 8)) & kMask;
  key *= 265;
  key ^= key >> 14;
  key = (key + (key << 2) + (key << 4)) & kMask;
  key *= 21;
  key ^= key >> 28;
  return uint32_t((key + (key << 31)) & kMask);
}

Goldfish::Goldfish(const GoldfishSection& section, uint64_t seed)
    : k_(section.k),
      h_(section.h),
      start_(section.start),
      include_target_(section.include_target),
      seed_(seed) {
  const std::string& name = section.strategy;
  if (name == "none") return;
  if (name == "static") strategy_ = Strategy::fixed;
  if (name == "seeded-random") strategy_ = Strategy::seeded_random;
  if (name == "hash-table") strategy_ = Strategy::hash_table;
  if (name == "hash-avalanche") strategy_ = Strategy::hash_avalanche;
  if (strategy_ == Strategy::none) {
    throw UserError(Problem{"is not known", "loss.goldfish.strategy", name,
                            "none, static, seeded-random, hash-table, hash-avalanche", ""});
  }
  const auto check = [](bool good, const char* key, int64_t value, const char* allowed) {
    if (!good) throw UserError(Problem{"is out of range", key, fmt::format("{}", value), allowed, ""});
  };
  check(k_ >= 2, "loss.goldfish.k", k_, "2 or more");
  check(h_ >= 1, "loss.goldfish.h", h_, "1 or more");
  check(start_ >= 0, "loss.goldfish.start", start_, "0 or more");
  if (strategy_ == Strategy::hash_table) table_ = goldfish_hash_table();
}

bool Goldfish::drops(uint64_t product) const {
  if (strategy_ == Strategy::hash_avalanche) {
    return double(goldfish_avalanche(product)) < 4294967295.0 / double(k_);
  }
  int64_t index = int64_t(product) % kTableSize;
  if (index < 0) index += kTableSize;
  return double(table_[size_t(index)]) < 1.0 / double(k_);
}

int64_t Goldfish::mask(int64_t sample, const int32_t* row, int64_t seq_length, float* weights) const {
  std::fill(weights, weights + seq_length, 1.0f);
  switch (strategy_) {
    case Strategy::none:
      break;
    case Strategy::fixed:
      for (int64_t j = start_; j < seq_length; j += k_) weights[j] = 0;
      break;
    case Strategy::seeded_random: {
      const Philox draw(seed_, "loss/goldfish");
      for (int64_t j = 0; j < seq_length; ++j) {
        if (draw.uniform(uint64_t(sample * seq_length + j)) < 1.0 / double(k_)) weights[j] = 0;
      }
      break;
    }
    case Strategy::hash_table:
    case Strategy::hash_avalanche:
      for (int64_t j = h_ - 1; j < seq_length; ++j) {
        const int32_t* window = row + j + (include_target_ ? 1 : 0) - (h_ - 1);
        uint64_t product = 1;
        for (int64_t i = 0; i < h_; ++i) product *= uint64_t(int64_t(window[i]));
        if (drops(product)) weights[j] = 0;
      }
      break;
  }
  return std::count(weights, weights + seq_length, 1.0f);
}

}  // namespace shoal
