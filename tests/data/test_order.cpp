#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"
#include "data/batch.h"
#include "data/blend.h"
#include "data/dataset.h"
#include "data/files.h"
#include "data/permutation.h"
#include "data/split.h"
#include "data/token_file_writer.h"

using namespace shoal;

namespace {

// Documents of the given sizes whose ids count up from `first`, so that a row shows where it came from.
void write_counting(const std::string& prefix, const std::vector<int64_t>& sizes, int32_t first = 0) {
  TokenFileWriter writer(prefix, {.vocab_size = 100000, .tokenizer = "", .end_of_document = -1});
  for (int64_t size : sizes) {
    std::vector<int32_t> ids(static_cast<size_t>(size));
    std::iota(ids.begin(), ids.end(), first);
    first += int32_t(size);
    writer.append(ids.data(), size);
    writer.end_document();
  }
  writer.finish();
}

std::vector<int32_t> row_of(const SampleSource& source, int64_t index) {
  std::vector<int32_t> row(size_t(source.seq_length() + 1));
  source.read(index, row.data());
  return row;
}

RunSpec spec_of(const std::vector<DataSource>& train, int64_t seq_length) {
  RunSpec spec;
  spec.data.train = train;
  spec.data.seq_length = seq_length;
  return spec;
}

}  // namespace

TEST_CASE("permutation: every size up to 300 and some large ones are permuted") {
  for (uint64_t size = 1; size <= 300; ++size) {
    const Permutation permutation(size * 7919, size);
    std::vector<bool> seen(size);
    for (uint64_t i = 0; i < size; ++i) seen[permutation(i)] = true;
    CHECK(std::count(seen.begin(), seen.end(), true) == int64_t(size));
  }
  for (const uint64_t size : {uint64_t(1) << 40, (uint64_t(1) << 40) + 1, uint64_t(1) << 62}) {
    const Permutation permutation(1, size);
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < 2000; ++i) seen.insert(permutation(i * (size / 2000)));
    CHECK(seen.size() == 2000);
    CHECK(*seen.rbegin() < size);
  }
}

TEST_CASE("permutation: over keys, each place gets each value equally often") {
  for (const uint64_t size : {2, 5, 10, 100}) {
    constexpr int kKeys = 20000;
    std::vector<int> counts(size * size);
    for (uint64_t key = 0; key < kKeys; ++key) {
      const Permutation permutation(key, size);
      for (uint64_t i = 0; i < size; ++i) ++counts[i * size + permutation(i)];
    }
    const double expected = double(kKeys) / double(size);
    double chi2 = 0;
    for (int count : counts) chi2 += (count - expected) * (count - expected) / expected;
    const double freedom = double((size - 1) * (size - 1));
    CHECK(chi2 < freedom + 5 * std::sqrt(2 * freedom));
  }
}

TEST_CASE("permutation: neighbours are scattered") {
  constexpr uint64_t kSize = 100000;
  const Permutation permutation(42, kSize);
  double distance = 0;
  for (uint64_t i = 0; i + 1 < kSize; ++i) {
    distance += std::abs(double(permutation(i)) - double(permutation(i + 1)));
  }
  CHECK(distance / kSize == doctest::Approx(kSize / 3.0).epsilon(0.02));
}

TEST_CASE("blend: at and count agree, and the counts follow the weights") {
  rc::check([] {
    const auto parts = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000)));
    std::vector<double> weights(parts.begin(), parts.end());
    for (double& weight : weights) weight = weight * weight;  // spread over six decades
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const Blend blend(weights);
    const double bound = weights.size() <= 3 ? 1.0 : 1.7;
    const int64_t base = *rc::gen::inRange<int64_t>(0, int64_t(1) << 40);
    std::vector<int64_t> counts;
    for (size_t i = 0; i < weights.size(); ++i) counts.push_back(blend.count(int(i), base));
    RC_ASSERT(std::accumulate(counts.begin(), counts.end(), int64_t(0)) == base);
    for (int64_t sample = base; sample < base + 200; ++sample) {
      const auto pick = blend.at(sample);
      RC_ASSERT(pick.index == counts[size_t(pick.source)]++);
      for (size_t i = 0; i < weights.size(); ++i) {
        RC_ASSERT(std::abs(double(counts[i]) - weights[i] / sum * double(sample + 1)) < bound + 1e-3);
      }
    }
  });
}

TEST_CASE("split: the boundaries of GPT-NeoX") {
  using Ranges = std::array<int64_t, 4>;
  CHECK(split_ranges("969,30,1", 1000) == Ranges{0, 969, 999, 1000});
  CHECK(split_ranges("969,30,1", 123457) == Ranges{0, 119630, 123334, 123457});
  CHECK(split_ranges("949,50,1", 7) == Ranges{0, 7, 7, 7});
  CHECK(split_ranges("98,2,0", 55) == Ranges{0, 54, 55, 55});
  CHECK(split_ranges("98/2", 55) == Ranges{0, 54, 55, 55});
  CHECK(split_ranges("1", 5) == Ranges{0, 5, 5, 5});
  CHECK(split_ranges_megatron("969,30,1", 1000) == Ranges{0, 969, 999, 1000});
  CHECK(split_ranges_megatron("949,50,1", 7) == Ranges{0, 7, 7, 7});
  for (const char* bad : {"", "a", "1,,2", "-1,2", "0,0", "1,2,3,4", "1 2", "nan", "inf,1"}) {
    CHECK_THROWS_AS(split_ranges(bad, 10), UserError);
  }
}

TEST_CASE("native order: an epoch holds each row once, whatever its order") {
  const test::TempFolder folder;
  write_counting(folder / "set", {70, 0, 50, 3, 200});  // 323 tokens: 20 rows of 16, two tokens over
  const auto source = open_split(spec_of({{folder / "set", 1.0}}, 16), Split::train, 100);
  REQUIRE(source->size() == 100);
  std::vector<int64_t> first_tokens;
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    std::set<int32_t> targets;
    std::vector<int64_t> order;
    for (int64_t i = epoch * 20; i < (epoch + 1) * 20; ++i) {
      const auto row = row_of(*source, i);
      for (size_t j = 1; j < row.size(); ++j) {
        CHECK(row[j] == (row[j - 1] + 1) % 323);  // the stream goes on at its beginning
        CHECK(targets.insert(row[j]).second);
      }
      order.push_back(row[0]);
    }
    CHECK(targets.size() == 320);
    CHECK(!std::is_sorted(order.begin(), order.end()));
    if (epoch == 0) CHECK(*std::min_element(order.begin(), order.end()) == 0);
    first_tokens.push_back(*std::min_element(order.begin(), order.end()));
  }
  CHECK(std::set<int64_t>(first_tokens.begin(), first_tokens.end()).size() > 2);  // epochs cut elsewhere
}

TEST_CASE("native order: a sample depends on the seed and its index only") {
  const test::TempFolder folder;
  write_counting(folder / "a", {1000});
  write_counting(folder / "b", {500}, 5000);
  auto spec = spec_of({{folder / "a", 1.0}}, 8);
  const auto few = open_split(spec, Split::train, 10), many = open_split(spec, Split::train, 1000000);
  for (int64_t i = 0; i < 10; ++i) CHECK(row_of(*few, i) == row_of(*many, i));
  spec.data.seed = int64_t(spec.run.seed);
  CHECK(row_of(*open_split(spec, Split::train, 10), 3) == row_of(*few, 3));
  spec.data.seed = 99;
  const auto other = open_split(spec, Split::train, 10);
  int equal = 0;
  for (int64_t i = 0; i < 10; ++i) equal += row_of(*other, i) == row_of(*few, i);
  CHECK(equal < 5);

  // A second source takes its share and leaves the order of the first one alone.
  spec.data.seed = -1;
  spec.data.train.push_back({folder / "b", 3.0});
  const auto blend = open_split(spec, Split::train, 400);
  std::vector<std::vector<int32_t>> from_a;
  for (int64_t i = 0; i < 400; ++i) {
    auto row = row_of(*blend, i);
    if (row[0] < 5000) from_a.push_back(std::move(row));
  }
  CHECK(from_a.size() == 100);
  for (size_t i = 0; i < from_a.size(); ++i) CHECK(from_a[i] == row_of(*many, int64_t(i)));
}

TEST_CASE("native order: the first samples of a seed, for ever") {
  const test::TempFolder folder;
  write_counting(folder / "set", {1000});
  const auto source = open_split(spec_of({{folder / "set", 1.0}}, 8), Split::train, 1000);
  std::vector<int32_t> first;
  for (int64_t i : {0, 1, 2, 3, 123, 124, 125, 999}) first.push_back(row_of(*source, i)[0]);
  CHECK(first == std::vector<int32_t>{248, 288, 496, 656, 232, 311, 775, 400});
}

TEST_CASE("validation: every row once, in file order, never wrapped") {
  const test::TempFolder folder;
  write_counting(folder / "a", {30, 3});
  write_counting(folder / "b", {20}, 100);
  RunSpec spec = spec_of({}, 8);
  CHECK(open_split(spec, Split::valid, 0) == nullptr);
  spec.data.valid = {{folder / "a", 1.0}, {folder / "b", 1.0}};
  const auto source = open_split(spec, Split::valid, 0);
  CHECK(source->size() == 6);
  CHECK(row_of(*source, 3)[0] == 24);
  CHECK(row_of(*source, 4)[0] == 100);
  CHECK_NOTHROW(open_split(spec, Split::valid, 6));
  CHECK_THROWS_WITH_AS(open_split(spec, Split::valid, 7),
                       doctest::Contains("has 6 samples, and 7 are asked for"), UserError);
  CHECK_THROWS_AS(make_batch(*source, 5, 2, nullptr), Error);
}

TEST_CASE("split: contiguous documents, disjoint sets") {
  const test::TempFolder folder;
  write_counting(folder / "set", std::vector<int64_t>(100, 20));
  auto spec = spec_of({{folder / "set", 1.0}}, 10);
  spec.data.split = "80,15,5";
  const auto train = open_split(spec, Split::train, 0), valid = open_split(spec, Split::valid, 0),
             test = open_split(spec, Split::test, 0);
  for (int64_t i = 0; i < train->size(); ++i) {
    for (int32_t id : row_of(*train, i)) CHECK(id < 1600);
  }
  CHECK(row_of(*valid, 0)[0] == 1600);
  CHECK(row_of(*valid, valid->size() - 1).back() < 1900);
  CHECK(row_of(*test, 0)[0] == 1900);
  spec.data.split = "100,0,0";
  CHECK(open_split(spec, Split::valid, 0) == nullptr);
  spec.data.split = "99.5,0.5";
  spec.data.valid = {{folder / "set", 1.0}};
  CHECK_THROWS_AS(open_split(spec, Split::train, 0), UserError);
}

TEST_CASE("open: data that do not fit are refused") {
  const test::TempFolder folder;
  write_counting(folder / "set", {8});
  CHECK_THROWS_WITH_AS(open_split(spec_of({{folder / "set", 1.0}}, 8), Split::train, 1),
                       doctest::Contains("too few for one sample"), UserError);
  CHECK_THROWS_AS(open_split(spec_of({{folder / "set", 0.0}}, 4), Split::train, 1), UserError);
  auto spec = spec_of({{folder / "set", 1.0}}, 7);
  spec.model.vocab_size = 5;
  const auto source = open_split(spec, Split::train, 1);
  CHECK_THROWS_WITH_AS(row_of(*source, 0), doctest::Contains("token 7 has the id 7"), UserError);
  spec.data.order = "random";
  CHECK_THROWS_AS(open_split(spec, Split::train, 1), UserError);

  TokenFileWriter writer(folder / "made",
                         {.vocab_size = 257, .tokenizer = "bpe:1234", .end_of_document = -1});
  const std::vector<int32_t> ids(20, 1);
  writer.append(ids.data(), 20);
  writer.finish();
  spec = spec_of({{folder / "made", 1.0}}, 8);
  spec.data.tokenizer = "byte";
  CHECK_THROWS_WITH_AS(open_split(spec, Split::train, 1), doctest::Contains("bpe:1234"), UserError);
}
