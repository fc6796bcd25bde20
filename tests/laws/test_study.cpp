// Intervals, checks by leaving out, and what is said about laws that the points cannot tell.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "laws/study.h"
#include "laws/study_text.h"
#include "published.h"

using namespace shoal;

namespace {

using enum LawTerm;

const ParametricLaw truth{{params, tokens}, {0.34, 0.28}, {6.0, 6.1}, 0.5, 0};

std::vector<LawPoint> made_points() {
  std::vector<LawPoint> points;
  for (double w : {64.0, 128.0, 256.0}) {
    for (double d : {2.0, 4.0, 8.0}) {
      for (double t = 1e8; t < 1e11; t *= 2.2) {
        LawPoint p;
        p.width = w;
        p.depth = d;
        p.params = 12 * d * w * w + 8192 * w;
        p.tokens = t;
        p.flops = 6 * p.params * t;
        p.loss = truth.loss(p);
        points.push_back(p);
      }
    }
  }
  return points;
}

std::string complaint(std::vector<LawPoint> points, const LawForm& form) {
  const auto problem = why_unidentifiable(points, form);
  return problem ? to_string(*problem) : "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("bootstrap standard errors of the Chinchilla points have the published size") {
  StudyOptions options;
  options.forms = {{params, tokens}};
  options.bootstraps = 500;
  options.max_starts = 100;
  auto points = chinchilla();
  options.flops.rule = FlopsRule::six_n;
  const Study study = study_laws(points, options);
  const FormStudy& form = study.forms.front();
  CHECK(form.exponents[0].count == 500);
  CHECK(form.coefficients[0].deviation == doctest::Approx(124.52).epsilon(0.2));
  CHECK(form.coefficients[1].deviation == doctest::Approx(1293.28).epsilon(0.2));
  CHECK(form.irreducible.deviation == doctest::Approx(0.02566).epsilon(0.2));
  CHECK(form.exponents[0].deviation == doctest::Approx(0.01540).epsilon(0.2));
  CHECK(form.exponents[1].deviation == doctest::Approx(0.02060).epsilon(0.2));
  CHECK(form.params_slope.value() == doctest::Approx(0.513).epsilon(0.01));
  CHECK(form.params_slope_spread.deviation == doctest::Approx(0.020).epsilon(0.2));
  // The published 95 % intervals hold ours, up to the noise of either bootstrap.
  CHECK(form.exponents[0].low == doctest::Approx(0.317).epsilon(0.02));
  CHECK(form.exponents[0].high == doctest::Approx(0.373).epsilon(0.02));
  CHECK(form.irreducible.low == doctest::Approx(1.769).epsilon(0.01));
  CHECK(form.irreducible.high == doctest::Approx(1.871).epsilon(0.01));
}

TEST_CASE("points made by a law: every approach finds it, and leaving out changes nothing") {
  StudyOptions options;
  options.bootstraps = 20;
  options.max_starts = 200;
  options.forms = {{params, tokens}};
  const Study study = study_laws(made_points(), options);
  CHECK(study.shapes == 9);
  const FormStudy& form = study.forms.front();
  CHECK(form.law.exponents[0] == doctest::Approx(0.34).epsilon(1e-3));
  CHECK(form.search.starts == 200);
  CHECK(form.search.agreeing >= 1);
  CHECK(form.without_shape.size() == 9);
  for (const LeaveOut& one : form.without_shape) {
    CHECK(one.left_out == made_points().size() / 9);
    CHECK(one.error < 1e-3);
  }
  CHECK(form.without_largest.error < 1e-3);
  for (const ScalingLines& lines : study.lines) {
    CAPTURE(lines.name);
    if (lines.name == "isoFLOP minima")
      CHECK(lines.params.slope == doctest::Approx(0.28 / 0.62).epsilon(0.1));
    CHECK(lines.params_slope.count > 0);
  }
}

TEST_CASE("text, JSON and CSV agree, and the same seed gives the same study") {
  StudyOptions options;
  options.bootstraps = 10;
  options.max_starts = 60;
  options.budgets = {1e16, 1e30};
  const Study study = study_laws(made_points(), options);
  CHECK(study.forms.size() == 3);
  const std::string text = study_text(study), csv = advice_csv(study);
  CHECK(text == study_text(study_laws(made_points(), options)));
  for (const char* part : {"81 points of 9 shapes", "1 hull", "params + tokens", "width + depth + tokens",
                           "without the 20 % with the most FLOPs", "beyond the data"}) {
    CHECK_MESSAGE(has(text, part), part);
  }
  const auto json = nlohmann::json::parse(study_json(study));
  CHECK(json["points"] == 81);
  CHECK(json["laws"][0]["terms"][0]["exponent"] == study.forms[0].law.exponents[0]);
  CHECK(json["advice"].size() == study.advice.size());
  CHECK(size_t(std::count(csv.begin(), csv.end(), '\n')) == study.advice.size() + 1);
  for (const Advice& a : study.advice) CHECK(a.beyond_data == (a.at.flops > 1e25));
}

TEST_CASE("terms that cannot be identified are named") {
  auto points = made_points();
  CHECK(complaint(points, {params, tokens}) == "");
  CHECK(complaint(points, {width, depth, params, tokens}) == "");
  for (auto& p : points) p.depth = 4;
  CHECK(has(complaint(points, {width, depth, tokens}),
            "the term depth cannot be identified (got: every point has 4)"));
  for (size_t i = 0; i < points.size(); ++i) points[i].depth = i % 2 ? 4 : 6;
  CHECK(has(complaint(points, {width, depth, tokens}), "only 4 and 6"));
  for (auto& p : points) p.tokens = 20 * p.params;
  CHECK(has(complaint(points, {params, tokens}), "the terms params and tokens cannot be told apart"));
  points[5].width = 0;
  points[5].row = "t.csv:7";
  CHECK(has(complaint(points, {width, tokens}), "t.csv:7: the point has no value for the term width"));
  points.resize(4);
  CHECK(has(complaint(points, {params, tokens}), "too few points to fit (got: 4)"));
  CHECK_THROWS_AS(study_laws(points, {.forms = {{params, tokens}}}), UserError);
}

TEST_CASE("a default form that the points cannot tell is left out with a warning") {
  auto points = made_points();
  for (auto& p : points) p.depth = 4;
  StudyOptions options;
  options.bootstraps = 0;
  options.max_starts = 60;
  const Study study = study_laws(points, options);
  CHECK(study.forms.size() == 1);
  const std::string all = nlohmann::json(study.warnings).dump();
  CHECK(has(all, "width + depth + tokens is left out: the term depth cannot be identified"));
}

TEST_CASE("a law is doubted where it says nothing") {
  ParametricLaw law = truth;
  CHECK(doubts_about(law, made_points()).empty());
  law.irreducible = -40;
  REQUIRE(doubts_about(law, made_points()).size() == 1);
  CHECK(has(doubts_about(law, made_points())[0], "irreducible"));
  law = truth;
  law.coefficients[1] = -30;
  CHECK(has(doubts_about(law, made_points())[0], "the term tokens"));
  law = truth;
  law.exponents[0] = -0.01;
  law.coefficients[0] = 0;
  CHECK(has(doubts_about(law, made_points())[0], "does not fall with params"));
}
