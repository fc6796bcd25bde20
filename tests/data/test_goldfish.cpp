// Golden values: computed from the rules of the authors' program with PyTorch's CPU generator.
#include <doctest/doctest.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "data/goldfish.h"

using namespace shoal;

namespace {

GoldfishSection section(const std::string& strategy, int64_t k, int64_t h) {
  GoldfishSection result;
  result.strategy = strategy;
  result.k = k;
  result.h = h;
  return result;
}

// Masks a row made of a first token and targets; returns the dropped positions.
std::vector<int> dropped(const GoldfishSection& section, const std::vector<int32_t>& targets,
                         int64_t sample = 0, int32_t first = 77) {
  std::vector<int32_t> row{first};
  row.insert(row.end(), targets.begin(), targets.end());
  std::vector<float> weights(targets.size());
  const int64_t kept =
      Goldfish(section, 1234).mask(sample, row.data(), int64_t(targets.size()), weights.data());
  std::vector<int> positions;
  for (size_t j = 0; j < weights.size(); ++j) {
    if (weights[j] == 0) positions.push_back(int(j));
  }
  CHECK(kept + int64_t(positions.size()) == int64_t(targets.size()));
  return positions;
}

std::vector<int32_t> counting(int32_t first, int count, int step) {
  std::vector<int32_t> targets;
  for (int i = 0; i < count; ++i) targets.push_back(first + step * i);
  return targets;
}

using Positions = std::vector<int>;

}  // namespace

TEST_CASE("goldfish: the table of uniforms") {
  const auto table = goldfish_hash_table();
  REQUIRE(table.size() == 1000003);
  const uint32_t first[] = {0x3e6f4ad4, 0x3ee1ed5c, 0x3f3dbbdb, 0x3f68c60b,
                            0x3f361938, 0x3a937c00, 0x3e5e5ff0, 0x3d1c7a80};
  for (size_t i = 0; i < 8; ++i) CHECK(std::bit_cast<uint32_t>(table[i]) == first[i]);
  CHECK(double(table[1000000]) == 0.6093065142631531);
  CHECK(double(table[1000001]) == 0.41157567501068115);
  CHECK(double(table[1000002]) == 0.836006760597229);
  const std::vector<std::pair<int, int>> below{{2, 499238}, {3, 332314}, {4, 249533}, {8, 124996},
                                               {32, 31024}, {50, 19901}, {128, 7746}};
  for (const auto& [k, count] : below) {
    const double threshold = 1.0 / k;
    int found = 0;
    for (float entry : table) found += double(entry) < threshold;
    CHECK(found == count);
  }
  // The XXH3 of the bytes whose SHA-256 is 33025be4fa64d02d0a2e630dfa7fc166bf76a5364206fe4cd8973ce46e836562.
  CHECK(XXH3_64bits(table.data(), table.size() * sizeof(float)) == 0xcab5951baef36121);
}

TEST_CASE("goldfish: hash-table drops the published positions") {
  CHECK(dropped(section("hash-table", 4, 4), counting(1, 32, 1)) == Positions{7, 12, 13, 19, 25, 28});
  CHECK(dropped(section("hash-table", 4, 13), counting(1, 32, 1)) == Positions{18, 21});
  CHECK(dropped(section("hash-table", 4, 13), counting(31999, 24, -1)) == Positions{13, 14, 16, 23});
}

TEST_CASE("goldfish: hash-table with ids 0 and -1 in the window") {
  const auto table = goldfish_hash_table();
  const std::vector<int32_t> targets{5, 0, 7, 9, 11, -1, 3, 2, 8};
  Positions expected;
  const int64_t indices[] = {0, 0, 999310, 999706, 999937, 999955};
  for (int i = 0; i < 6; ++i) {
    if (table[size_t(indices[i])] < 0.25f) expected.push_back(3 + i);
  }
  CHECK(expected.size() >= 2);  // both windows that hold the id 0
  CHECK(dropped(section("hash-table", 4, 4), targets) == expected);
}

TEST_CASE("goldfish: the window without the target is the one with it, a position later") {
  for (const char* strategy : {"hash-table", "hash-avalanche"}) {
    auto with = section(strategy, 3, 5), without = with;
    without.include_target = false;
    const auto targets = counting(1000, 400, 7);
    auto late = dropped(with, targets);
    std::vector<int32_t> shifted(targets.begin() + 1, targets.end());
    // The same tokens as a row that begins one token later: what was the first target is now the first token.
    const auto early = dropped(without, shifted, 0, targets[0]);
    late.erase(std::remove(late.begin(), late.end(), int(targets.size()) - 1), late.end());
    CHECK(early == late);
    CHECK(early.size() > 80);
  }
}

TEST_CASE("goldfish: the same passage loses the same targets wherever it stands") {
  for (const char* strategy : {"hash-table", "hash-avalanche"}) {
    const auto passage = counting(500, 100, 3);
    auto longer = counting(9000, 37, 11);
    longer.insert(longer.end(), passage.begin(), passage.end());
    const auto alone = dropped(section(strategy, 4, 13), passage, 1);
    Positions moved;
    for (int position : dropped(section(strategy, 4, 13), longer, 2)) {
      if (position >= 37 + 12) moved.push_back(position - 37);
    }
    CHECK(alone == moved);
  }
}

TEST_CASE("goldfish: the avalanche hash, step by step in Python's integers") {
  CHECK(goldfish_avalanche(0) == 791250447);
  CHECK(goldfish_avalanche(1) == 4151993710);
  CHECK(goldfish_avalanche(123456789) == 532470862);
  CHECK(goldfish_avalanche(0xffffffffffffffff) == 58270011);
}

TEST_CASE("goldfish: every strategy drops one in k") {
  for (const char* strategy : {"static", "seeded-random", "hash-table", "hash-avalanche"}) {
    for (const int64_t k : {2, 3, 4, 8, 32}) {
      std::vector<int32_t> targets;
      uint64_t state = 88172645463325252ULL;  // xorshift: products of random odd ids cover the table
      for (int i = 0; i < 100000; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        targets.push_back(int32_t(state % 30000) * 2 + 1);
      }
      const double share = double(dropped(section(strategy, k, 13), targets).size()) / 100000;
      CHECK(share == doctest::Approx(1.0 / double(k)).epsilon(0.05));
    }
  }
}

TEST_CASE("goldfish: static and seeded-random") {
  auto fixed = section("static", 4, 13);
  CHECK(dropped(fixed, counting(1, 10, 1)) == Positions{0, 4, 8});
  fixed.start = 3;
  CHECK(dropped(fixed, counting(1, 10, 1)) == Positions{3, 7});
  const auto random = section("seeded-random", 4, 13);
  CHECK(dropped(random, counting(1, 200, 1), 5) == dropped(random, counting(900, 200, 1), 5));
  CHECK(dropped(random, counting(1, 200, 1), 5) != dropped(random, counting(1, 200, 1), 6));
  CHECK(dropped(section("none", 4, 13), counting(1, 10, 1)).empty());
}

TEST_CASE("goldfish: wrong settings are refused") {
  CHECK_THROWS_AS(Goldfish(section("hash", 4, 13), 1), UserError);
  CHECK_THROWS_AS(Goldfish(section("static", 1, 13), 1), UserError);
  CHECK_THROWS_AS(Goldfish(section("hash-table", 4, 0), 1), UserError);
}
