#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "data/batch.h"
#include "data/prefetcher.h"

using namespace shoal;

namespace {

class CountingSource : public SampleSource {
 public:
  int64_t size() const override { return 100; }
  int64_t seq_length() const override { return 4; }
  void read(int64_t index, int32_t* row) const override {
    for (int32_t j = 0; j < 5; ++j) row[j] = int32_t(index) * 10 + j;
  }
  std::string describe() const override { return "counting"; }
};

HostBatch marked(int64_t n) {
  HostBatch batch;
  batch.rows = n;
  return batch;
}

}  // namespace

TEST_CASE("batch: targets are the tokens shifted by one") {
  const HostBatch batch = make_batch(CountingSource{}, 7, 2, nullptr);
  CHECK(batch.tokens == std::vector<int32_t>{70, 71, 72, 73, 80, 81, 82, 83});
  CHECK(batch.targets == std::vector<int32_t>{71, 72, 73, 74, 81, 82, 83, 84});
  CHECK(batch.weights == std::vector<float>(8, 1.0f));
  CHECK(batch.kept == 8);
  CHECK_THROWS_AS(make_batch(CountingSource{}, 99, 2, nullptr), Error);
}

TEST_CASE("batch: goldfish weights, the same however samples are batched") {
  GoldfishSection section;
  section.strategy = "seeded-random";
  section.k = 2;
  const Goldfish goldfish(section, 1);
  const HostBatch all = make_batch(CountingSource{}, 0, 10, &goldfish);
  CHECK(all.kept == std::count(all.weights.begin(), all.weights.end(), 1.0f));
  CHECK(all.kept < 40);
  std::vector<float> pieces;
  for (int64_t i = 0; i < 10; ++i) {
    const HostBatch one = make_batch(CountingSource{}, i, 1, &goldfish);
    pieces.insert(pieces.end(), one.weights.begin(), one.weights.end());
  }
  CHECK(pieces == all.weights);
}

TEST_CASE("prefetcher: gives every batch in order from any start, and keeps few") {
  std::atomic<int64_t> made{0};
  Prefetcher prefetcher([&](int64_t n) { return ++made, marked(n); }, 5, 20, 3);
  for (int64_t n = 5; n < 20; ++n) {
    CHECK(prefetcher.next().rows == n);
    CHECK(made <= n - 5 + 1 + 3 + 1);
  }
  CHECK(prefetcher.seconds_waited() >= 0);
}

TEST_CASE("prefetcher: an exception comes out where its batch would have") {
  Prefetcher prefetcher([](int64_t n) { return n == 2 ? throw std::runtime_error("no more") : marked(n); }, 0,
                        10, 4);
  CHECK(prefetcher.next().rows == 0);
  CHECK(prefetcher.next().rows == 1);
  CHECK_THROWS_WITH(prefetcher.next(), "no more");
  CHECK_THROWS_WITH(prefetcher.next(), "no more");
}

TEST_CASE("prefetcher: can be dropped at any time") {
  for (int i = 0; i < 20; ++i) {
    Prefetcher prefetcher(marked, 0, 1000000, 2);
    if (i % 2 == 0) prefetcher.next();
  }
}
