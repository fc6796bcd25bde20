#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "eval/memorization.h"
#include "eval/rouge.h"
#include "eval/score_file.h"
#include "model/tiny.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

using Ids = std::vector<int32_t>;

// Greedy continuation without a cache: the whole forward pass for every token.
Ids continue_slowly(TestModel& test, Ids ids, int64_t count, int64_t vocab, int32_t banned) {
  const int64_t V = test.model.config().vocab_size;
  const size_t prompt = ids.size();
  for (int64_t n = 0; n < count; ++n) {
    const auto all = test.values(test.model.logits(ids.data(), 1, int64_t(ids.size())));
    const float* last = all.data() + (int64_t(ids.size()) - 1) * V;
    int32_t best = -1;
    for (int32_t id = 0; id < vocab; ++id) {
      if (id != banned && (best < 0 || last[id] > last[best])) best = id;
    }
    ids.push_back(best);
  }
  return {ids.begin() + ptrdiff_t(prompt), ids.end()};
}

// Random sequences of differing lengths.
std::vector<Ids> sequences_of(int64_t vocab) {
  std::vector<Ids> all;
  for (int64_t i = 0; i < 11; ++i) {
    Ids ids;
    for (int64_t t = 0; t < 9 + i % 4; ++t) ids.push_back(int32_t((i * 31 + t * t * 7 + 3) % vocab));
    all.push_back(ids);
  }
  return all;
}

}  // namespace

TEST_CASE("extraction: batches with a cache give what single forward passes give") {
  const ModelConfig config = tiny_neox();
  TestModel test(config, DType::f32);
  const int64_t vocab = config.vocab_size - 3;
  for (const bool from_the_end : {false, true}) {
    // Every second sequence is made to end as the model goes on.
    std::vector<Ids> all = sequences_of(vocab);
    const Ids free = continue_slowly(test, {all[0].begin(), all[0].begin() + 4}, 1, vocab, -1);
    const int32_t banned = free[0];
    for (size_t i = 0; i < all.size(); i += 2) {
      const size_t prompt = from_the_end ? all[i].size() - 5 : 4;
      const Ids made =
          continue_slowly(test, {all[i].begin(), all[i].begin() + ptrdiff_t(prompt)}, 5, vocab, banned);
      std::copy(made.begin(), made.end(), all[i].begin() + ptrdiff_t(prompt));
    }
    Extraction extraction;
    extraction.prompt = from_the_end ? 0 : 4;
    extraction.continuation = 5;
    extraction.batch = 3;
    extraction.greedy = {vocab, banned};
    int64_t progress = 0;
    extraction.on_progress = [&](int64_t done) { progress = done; };
    const auto scores =
        extract(test.model, test.context, {0, int64_t(all.size()), [&](int64_t i) { return all[size_t(i)]; }},
                extraction);
    REQUIRE(scores.size() == all.size());
    CHECK(progress == int64_t(all.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t prompt = from_the_end ? all[i].size() - 5 : 4;
      const Ids made =
          continue_slowly(test, {all[i].begin(), all[i].begin() + ptrdiff_t(prompt)}, 5, vocab, banned);
      double right = 0;
      for (size_t j = 0; j < 5; ++j) right += made[j] == all[i][prompt + j];
      CHECK(scores[i].index == int64_t(i));
      CHECK(scores[i].matched == right / 5);
      if (i % 2 == 0) CHECK(scores[i].exact());
      if (scores[i].exact()) CHECK(scores[i].rouge_l == 1);
    }
  }
}

TEST_CASE("extraction: sequences that are too short are left out") {
  TestModel test(tiny_neox(), DType::f32);
  Extraction extraction;
  extraction.prompt = 3;
  extraction.continuation = 2;
  const std::vector<Ids> all{{1, 2, 3, 4}, {1, 2, 3, 4, 5}, {}};
  const auto scores =
      extract(test.model, test.context, {0, 3, [&](int64_t i) { return all[size_t(i)]; }}, extraction);
  REQUIRE(scores.size() == 1);
  CHECK(scores[0].index == 1);
}

TEST_CASE("RougeL: the longest common subsequence of tokens") {
  CHECK(rouge_l(Ids{1, 2, 3, 4}, Ids{1, 2, 3, 4}) == 1);
  CHECK(rouge_l(Ids{1, 2, 3}, Ids{4, 5}) == 0);
  CHECK(rouge_l(Ids{}, Ids{4, 5}) == 0);
  CHECK(rouge_l(Ids{1, 2}, Ids{}) == 0);
  // Lin 2004, section 3.2: "police killed the gunman" against "police kill the gunman" shares 3 of 4 words,
  // and against "the gunman kill police" 2 of 4.
  CHECK(rouge_l(Ids{1, 2, 3, 4}, Ids{1, 5, 3, 4}) == doctest::Approx(0.75));
  CHECK(rouge_l(Ids{1, 2, 3, 4}, Ids{3, 4, 5, 1}) == doctest::Approx(0.5));
  CHECK(rouge_l(Ids{1, 2, 3, 4}, Ids{2, 4}) == doctest::Approx(2 * 0.5 * 1 / 1.5));
}

TEST_CASE("score files: the released form, read and written") {
  const test::TempFolder folder;
  const std::vector<ExtractionScore> scores{{7, 1, 1}, {8, 0.03125, 0.5}, {10, 0, 0}};
  CHECK(scores_csv(scores, false) == "7,1.0\n8,0.03125\n10,0.0\n");
  CHECK(scores_csv(scores, true) == "index,matched,rouge_l\n7,1.0,1.0\n8,0.03125,0.5\n10,0.0,0.0\n");
  for (const bool with_rouge : {false, true}) {
    std::ofstream(folder / "scores.csv") << scores_csv(scores, with_rouge);
    CHECK(read_scores(folder / "scores.csv") == std::map<int64_t, double>{{7, 1}, {8, 0.03125}, {10, 0}});
  }
  for (const char* bad : {"1,2\n", "1\n", "1,x\n", "1,0.5\n1,0.5\n", "1,0.5y\n"}) {
    std::ofstream(folder / "bad.csv") << bad;
    CHECK_THROWS_AS(read_scores(folder / "bad.csv"), UserError);
  }
}

TEST_CASE("prediction: precision and recall over the sequences that both score") {
  const std::map<int64_t, double> target{{1, 1}, {2, 1}, {3, 0.9}, {4, 1}, {5, 0}, {6, 1}};
  const std::map<int64_t, double> predictor{{1, 1}, {2, 0.5}, {3, 1}, {4, 1}, {5, 0}, {9, 1}};
  const Prediction p = predict(target, predictor);
  CHECK(p.sequences == 5);
  CHECK(p.target == 3);
  CHECK(p.predicted == 3);
  CHECK(p.both == 2);
  CHECK(p.precision() == doctest::Approx(2.0 / 3));
  CHECK(p.recall() == doctest::Approx(2.0 / 3));
  CHECK(std::isnan(predict({{1, 0}}, {{1, 0}}).recall()));
}
