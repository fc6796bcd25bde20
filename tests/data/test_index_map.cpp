// Golden values: the rules of the two programs restated in Python with NumPy 1.24's RandomState.
#include <doctest/doctest.h>

#include <numeric>

#include "base/error.h"
#include "data/dataset.h"
#include "data/greedy_blend.h"
#include "data/index_map.h"
#include "data/numpy_random.h"
#include "data/token_file_writer.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

using Ints = std::vector<int32_t>;

Ints shuffled(NumpyRandom& random, int count) {
  Ints values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  random.shuffle(values.data(), count);
  return values;
}

const Ints kSizes{5, 1, 7, 3, 9, 2, 4, 6};

Ints row_numbers(const IndexMap& map, int64_t count) {
  Ints rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(int32_t(map.begin_of(i) / 4));
  return rows;
}

// Token j of document d is 100 d + j.
Ints tokens(const IndexMap& map, int64_t sample) {
  Ints row;
  map.for_each_part(map.begin_of(sample), 5, [&](int64_t document, int64_t first, int64_t count) {
    for (int64_t j = first; j < first + count; ++j) row.push_back(int32_t(100 * document + j));
  });
  return row;
}

}  // namespace

TEST_CASE("numpy random: RandomState's draws and shuffles") {
  NumpyRandom draws(1234);
  for (uint32_t expected : {822569775u, 2137449171u, 2671936806u, 3512589365u})
    CHECK(draws.bits() == expected);
  NumpyRandom random(1234);
  CHECK(shuffled(random, 10) == Ints{7, 2, 9, 1, 0, 8, 4, 5, 6, 3});
  CHECK(shuffled(random, 7) == Ints{6, 4, 0, 5, 3, 2, 1});
  NumpyRandom other(42);
  CHECK(shuffled(other, 10) == Ints{8, 1, 5, 0, 7, 2, 9, 4, 3, 6});
  NumpyRandom zero(0);
  CHECK(shuffled(zero, 10) == Ints{2, 8, 4, 9, 1, 6, 7, 3, 0, 5});
  NumpyRandom thousand(1234);
  const Ints many = shuffled(thousand, 1000);
  int64_t sum = 0;
  for (size_t i = 0; i < many.size(); ++i) sum += int64_t(i) * many[i];
  CHECK(sum == 251398022);
  CHECK(Ints(many.begin(), many.begin() + 4) == Ints{681, 990, 155, 768});
}

TEST_CASE("index map: GPT-NeoX") {
  const IndexMap one(PublishedOrder::gpt_neox, kSizes, 4, 6, 0, 1234);
  CHECK(one.epochs() == 1);
  CHECK(one.size() == 8);  // of nine, the last is never served
  CHECK(one.documents() == Ints{2, 1, 6, 0, 4, 5, 3, 7});
  CHECK(row_numbers(one, 9) == Ints{6, 4, 0, 5, 3, 2, 8, 7, 1});
  CHECK(tokens(one, 0) == Ints{407, 408, 500, 501, 300});
  CHECK(tokens(one, 1) == Ints{4, 400, 401, 402, 403});
  CHECK(tokens(one, 2) == Ints{200, 201, 202, 203, 204});

  const IndexMap two(PublishedOrder::gpt_neox, kSizes, 4, 10, 0, 1234);
  CHECK(two.epochs() == 2);
  CHECK(two.documents() == Ints{5, 3, 0, 4, 6, 2, 2, 7, 1, 1, 0, 4, 5, 6, 3, 7});
  CHECK(row_numbers(two, 18) == Ints{7, 10, 4, 1, 11, 8, 3, 14, 13, 12, 17, 15, 2, 6, 9, 0, 5, 16});

  const IndexMap three(PublishedOrder::gpt_neox, kSizes, 4, 20, 0, 1234);
  CHECK(three.epochs() == 3);
  CHECK(three.documents() == Ints{7, 0, 2, 3, 1, 2, 5, 4, 0, 0, 5, 5, 2, 6, 4, 6, 3, 1, 1, 7, 4, 6, 3, 7});
  CHECK(row_numbers(three, 27) == Ints{22, 20, 13, 4,  25, 26, 14, 8, 10, 1,  23, 21, 19, 24,
                                       17, 9,  0,  11, 7,  3,  6,  2, 5,  12, 16, 18, 15});
}

TEST_CASE("index map: Megatron-LM, with a last epoch of its own") {
  const IndexMap two(PublishedOrder::megatron, kSizes, 4, 10, 0, 1234);
  CHECK(two.epochs() == 2);
  CHECK(two.size() == 18);
  CHECK(two.separate_last_epoch());
  CHECK(two.documents() == Ints{2, 1, 6, 0, 4, 5, 3, 7, 5, 0, 3, 4, 2, 6, 1, 7});
  CHECK(row_numbers(two, 18) == Ints{7, 3, 5, 1, 4, 8, 0, 2, 6, 16, 13, 10, 14, 12, 9, 11, 17, 15});

  const IndexMap three(PublishedOrder::megatron, kSizes, 4, 20, 0, 1234);
  CHECK(three.separate_last_epoch());
  CHECK(three.documents() == Ints{5, 3, 0, 4, 6, 2, 2, 7, 1, 1, 0, 4, 5, 6, 3, 7, 5, 1, 3, 4, 0, 7, 6, 2});
  CHECK(row_numbers(three, 27) == Ints{7, 10, 4, 1,  12, 8,  3,  17, 14, 13, 5,  11, 0, 2,
                                       6, 15, 9, 16, 18, 23, 26, 24, 25, 19, 22, 21, 20});
}

TEST_CASE("greedy blend: the order of the published programs") {
  const GreedyBlend blend({5, 3, 2}, 12);
  const std::vector<std::pair<int, int64_t>> expected{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {0, 2},
                                                      {2, 1}, {0, 3}, {1, 2}, {0, 4}, {0, 5}, {1, 3}};
  for (int64_t i = 0; i < 12; ++i) {
    CHECK(blend.at(i).source == expected[size_t(i)].first);
    CHECK(blend.at(i).index == expected[size_t(i)].second);
  }
  const GreedyBlend longer({0.7, 0.1, 0.2}, 20000);
  std::vector<int64_t> counts(3);
  for (int64_t i = 0; i < 20000; ++i) {
    const auto pick = longer.at(i);
    CHECK(pick.index == counts[size_t(pick.source)]++);
  }
  for (int i = 0; i < 3; ++i) CHECK(longer.count(i) == counts[size_t(i)]);
}

TEST_CASE("order gpt-neox and megatron: rows of a token file as the maps say") {
  const test::TempFolder folder;
  TokenFileWriter writer(folder / "set", {.vocab_size = 1000, .tokenizer = "", .end_of_document = -1});
  for (size_t d = 0; d < kSizes.size(); ++d) {
    for (int32_t j = 0; j < kSizes[d]; ++j) {
      const int32_t id = int32_t(100 * d) + j;
      writer.append(&id, 1);
    }
    writer.end_document();
  }
  writer.finish();
  RunSpec spec;
  spec.data.train = {{folder / "set", 1.0}};
  spec.data.seq_length = 4;
  spec.data.order = "gpt-neox";
  const auto source = open_split(spec, Split::train, 6);
  Ints row(5);
  source->read(0, row.data());
  CHECK(row == Ints{407, 408, 500, 501, 300});
  source->read(2, row.data());
  CHECK(row == Ints{200, 201, 202, 203, 204});
  spec.data.order = "megatron";
  CHECK(open_split(spec, Split::train, 10)->size() == 18);
  spec.data.train.push_back({folder / "set", 3.0});
  const auto blend = open_split(spec, Split::train, 40);
  CHECK(blend->size() == 40);
  for (int64_t i = 0; i < 40; ++i) blend->read(i, row.data());
  spec.data.seed = int64_t(1) << 32;
  CHECK_THROWS_AS(open_split(spec, Split::train, 6), UserError);
}

TEST_CASE("index map: the epochs can be frozen") {
  const IndexMap needed(PublishedOrder::gpt_neox, kSizes, 4, 10, 0, 1234);
  const IndexMap frozen(PublishedOrder::gpt_neox, kSizes, 4, 3, 2, 1234);
  CHECK(frozen.size() == needed.size());
  for (int64_t i = 0; i < frozen.size(); ++i) CHECK(tokens(frozen, i) == tokens(needed, i));
}
