#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "report/curve.h"
#include "report/html.h"
#include "report/page.h"
#include "report/run_log.h"
#include "report/scale.h"
#include "report/spec_text.h"
#include "report/summary.h"

namespace shoal::report {

TEST_CASE("metrics are read, and a torn last line is no fault") {
  RunLog log;
  read_metrics(
      "{\"step\":1,\"tokens\":64,\"loss\":9.5,\"lr\":0.1}\n"
      "{\"step\":1,\"valid_loss\":9.25}\n"
      "{\"step\":2,\"tokens\":128,\"loss\":null,\"skipped\":true}\n"
      "{\"step\":3,\"tok",
      log);
  CHECK(log.unreadable_lines == 0);
  REQUIRE(log.points("loss").size() == 2);
  CHECK(log.points("loss")[0].value == 9.5);
  CHECK(std::isnan(log.points("loss")[1].value));
  REQUIRE(log.points("valid_loss").size() == 1);
  CHECK(log.points("valid_loss")[0].tokens == 64);  // taken from the step it belongs to
  CHECK(log.points("skipped").empty());
  CHECK(log.points("no such key").empty());
}

TEST_CASE("a complete line that is no record is counted") {
  RunLog log;
  read_metrics(
      "{\"step\":1,\"loss\":1}\nrubbish\n[1]\n{\"loss\":2}\n\n{\"step\":\"x\"}\n{\"step\":2,\"loss\":3}\n",
      log);
  CHECK(log.unreadable_lines == 4);
  CHECK(log.points("loss").size() == 2);
}

TEST_CASE("a run that resumed earlier replaces what it had logged") {
  RunLog log;
  read_metrics(
      "{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":2}\n{\"step\":3,\"loss\":3}\n{\"step\":2,\"loss\":20}\n",
      log);
  REQUIRE(log.points("loss").size() == 2);
  CHECK(log.points("loss")[1].value == 20);
}

TEST_CASE("a folder without metrics is the user's mistake") {
  CHECK_THROWS_AS(read_run(std::filesystem::temp_directory_path() / "no-such-run"), UserError);
}

TEST_CASE("smoothing is the mean of both running means, and leaves gaps alone") {
  const std::vector<Point> points = {{1, 0, 4}, {2, 0, std::nan("")}, {3, 0, 1}};
  const auto smooth =
      smoothed(points, 1);  // weights halve with every point: (0.5 * 4 + 1) / 1.5 = 2, and (4 + 0.5) / 1.5
  CHECK(smooth[0].value == doctest::Approx((4 + 3) / 2.0));
  CHECK(std::isnan(smooth[1].value));
  CHECK(smooth[2].value == doctest::Approx((2 + 1) / 2.0));
  const std::vector<Point> level(50, Point{0, 0, 7});
  for (const auto& point : smoothed(level, 5)) CHECK(point.value == doctest::Approx(7));
}

TEST_CASE("thinning keeps the ends, the order and every extreme") {
  std::vector<Point> points;
  for (int i = 0; i < 100000; ++i) points.push_back({i, 0, std::sin(i * 0.001)});
  points[54321].value = 50;
  points[777].value = -50;
  const auto thin = thinned(points, 300);
  CHECK(thin.size() <= 602);
  CHECK(thin.front().step == 0);
  CHECK(thin.back().step == 99999);
  bool high = false, low = false;
  for (size_t i = 0; i < thin.size(); ++i) {
    if (i > 0) REQUIRE(thin[i].step > thin[i - 1].step);
    high = high || thin[i].value == 50;
    low = low || thin[i].value == -50;
  }
  CHECK(high);
  CHECK(low);
  CHECK(thinned({{1, 0, 1}, {2, 0, 2}}, 300).size() == 2);
}

TEST_CASE("axes have round ticks inside their range") {
  const Scale loss = linear_scale(2.9, 9.4, 300, 0, 5, true);
  CHECK(loss.low == doctest::Approx(2));
  CHECK(loss.high == doctest::Approx(10));
  CHECK(loss.at(2) == doctest::Approx(300));
  CHECK(loss.at(10) == doctest::Approx(0));
  const Scale steps = linear_scale(1, 600, 0, 100, 8, false);
  CHECK(steps.low == 1);
  CHECK(steps.ticks.front() == doctest::Approx(50));
  CHECK(steps.ticks.back() == doctest::Approx(600));
  const Scale constant = linear_scale(5, 5, 0, 1, 5, true);
  CHECK(constant.low < 5);
  CHECK(constant.high > 5);
  for (const double low : {1e-9, -3.0, 0.0, 123456.0}) {
    for (const double range : {1e-7, 1.0, 7e11}) {
      const Scale scale = linear_scale(low, low + range, 0, 1, 6, true);
      CHECK(scale.low <= low + range * 1e-6);
      CHECK(scale.high >= (low + range) - range * 1e-6);
      CHECK(scale.ticks.size() >= 3);
      CHECK(scale.ticks.size() <= 15);
    }
  }
  CHECK(tick_label(0.1 + 0.2) == "0.3");
  CHECK(tick_label(0.0003) == "0.0003");
  CHECK(tick_label(40e6) == "40M");
  CHECK(tick_label(1.5e4) == "15k");
  CHECK(tick_label(-250) == "-250");
}

TEST_CASE("a resolved spec gives keys, values and origins") {
  const auto lines = spec_lines(
      "version: 1\nmodel:\n  norm: \"a # b\"  # default\ndata:\n  train:\n"
      "    - {path: a, weight: 1}  # x.yaml:3:1\n    - b\n  seed: 3\n");
  CHECK(lines[2].key == "model.norm");
  CHECK(lines[2].value == "\"a # b\"");
  CHECK(lines[2].origin == "default");
  CHECK(lines[5].key == "data.train[0]");
  CHECK(lines[5].value == "{path: a, weight: 1}");
  CHECK(lines[6].key == "data.train[1]");
  CHECK(lines[7].key == "data.seed");

  const auto differing =
      differing_keys({"run:\n  name: a\n  seed: 1\n", "run:\n  name: b\n  seed: 1\n  extra: 2\n"});
  REQUIRE(differing.size() == 2);
  CHECK(differing[0].first == "run.name");
  CHECK(differing[1].second == std::vector<std::string>{"", "2"});
}

TEST_CASE("the summary takes the best validation loss and medians") {
  RunLog log;
  read_metrics(
      "{\"step\":1,\"tokens\":1000,\"loss\":4,\"tokens_per_second\":100,\"step_ms\":1000}\n"
      "{\"step\":1,\"valid_loss\":2}\n"
      "{\"step\":2,\"tokens\":2000,\"loss\":2,\"tokens_per_second\":300,\"step_ms\":2000}\n"
      "{\"step\":2,\"valid_loss\":3}\n"
      "{\"step\":3,\"tokens\":3000,\"loss\":3,\"tokens_per_second\":200,\"step_ms\":2000}\n",
      log);
  const auto figures = summary_of(log);
  CHECK(figures[0].value == "3.000");
  CHECK(figures[1].value == "2.000");
  CHECK(figures[1].note.find("7.389") != std::string::npos);
  CHECK(figures[2].value == "3");
  CHECK(figures[3].value == "200");
  CHECK(figures[4].value == "–");
  CHECK(figures[5].value == "5s");
}

TEST_CASE("the page escapes what it quotes and refers to nothing outside") {
  RunLog log;
  log.name = "<script>alert(1)</script>";
  log.samples = "a </pre> & \"b\"";
  log.resolved_spec = "run:\n  name: <b>  # override\n";
  log.environment = {{"host", "<i>"}};
  read_metrics("{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":2}\n", log);
  RunLog other = log;
  other.name = "</script><b>";
  const std::string page =
      report_page({log, other}, {.title = "", .loss_marks = {{"<u>", 1.5}}, .program = "shoal"});
  for (const char* evil : {"<script>alert", "</pre> &", "</script><b>", "<u>", "<td><i>", "name: <b>"}) {
    CHECK_MESSAGE(page.find(evil) == std::string::npos, evil);
  }
  for (const char* outside : {" src=", " href=", "url(", "@import", "fetch("}) {
    CHECK_MESSAGE(page.find(outside) == std::string::npos, outside);
  }
  CHECK(page.find("&lt;script&gt;alert(1)") != std::string::npos);
  CHECK(json_string("</script>\n\"") == "\"\\u003c/script>\\u000a\\\"\"");
  CHECK(json_number(std::nan("")) == "null");
}

TEST_CASE("a run without anything logged still makes a page") {
  RunLog log;
  log.name = "empty";
  const std::string page = report_page({log}, {});
  CHECK(page.find("nothing was logged") != std::string::npos);
  CHECK(page.find("nan") == std::string::npos);
}

}  // namespace shoal::report
