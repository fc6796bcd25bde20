#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "report/law_page.h"
#include "report/law_plots.h"
#include "report/scale.h"
#include "report/xy_plot.h"
#include "temp_folder.h"

namespace shoal::report {
namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

Study small_study() {
  std::vector<LawPoint> points;
  for (double w : {64.0, 128.0, 256.0}) {
    for (double d : {2.0, 4.0, 8.0}) {
      for (double t = 1e8; t < 1e11; t *= 2.2) {
        LawPoint p;
        p.run = "<b>" + std::to_string(int(w));
        p.width = w;
        p.depth = d;
        p.params = 12 * d * w * w + 8192 * w;
        p.tokens = t;
        p.flops = 6 * p.params * t;
        p.loss = 1.6 + 400 * std::pow(p.params, -0.34) + 450 * std::pow(t, -0.28);
        points.push_back(p);
      }
    }
  }
  StudyOptions options;
  options.bootstraps = 8;
  options.max_starts = 40;
  return study_laws(points, options);
}

}  // namespace

TEST_CASE("a contour of a cone is a circle") {
  std::vector<double> xs, values;
  for (int i = 0; i <= 80; ++i) xs.push_back(-2 + 0.05 * i);
  for (double y : xs) {
    for (double x : xs) values.push_back(std::hypot(x, y));
  }
  size_t spots = 0;
  double length = 0;
  std::pair<double, double> before{gap, gap};
  for (const auto& spot : contour(xs, xs, values, 1.3)) {
    if (std::isfinite(spot.first)) {
      CHECK(std::hypot(spot.first, spot.second) == doctest::Approx(1.3).epsilon(0.002));
      ++spots;
      if (std::isfinite(before.first))
        length += std::hypot(spot.first - before.first, spot.second - before.second);
    }
    before = spot;
  }
  CHECK(spots > 100);
  CHECK(length == doctest::Approx(2 * 3.14159265 * 1.3).epsilon(0.005));
  values[40 * 81 + 40] = gap;
  CHECK(contour(xs, xs, values, 0.01).empty());
}

TEST_CASE("logarithmic axes have round ticks inside their range") {
  const Scale flops = log_scale(3e18, 4e21, 0, 100);
  CHECK(flops.ticks == std::vector<double>{1e19, 1e20, 1e21});
  CHECK(flops.at(std::log10(4e21)) == doctest::Approx(100));
  for (const auto& [low, high] : {std::pair{2.4, 3.7}, {1.0, 1.0}, {1e-9, 1e9}, {5.0, 80.0}}) {
    CAPTURE(low);
    const Scale scale = log_scale(low, high, 0, 1);
    CHECK(scale.ticks.size() >= 2);
    CHECK(scale.ticks.size() <= 12);
    for (double tick : scale.ticks) {
      CHECK(scale.at(std::log10(tick)) > -0.01);
      CHECK(scale.at(std::log10(tick)) < 1.01);
    }
  }
  CHECK(tick_label(1e18) == "1e18");
  CHECK(tick_label(2.5e21) == "2.5e21");
  CHECK(tick_label(3e12) == "3T");
}

TEST_CASE("a plot leaves out what an axis cannot show, lifts its pen, and escapes its texts") {
  XyPlot plot{.id = "p", .title = "<t>", .x_name = "x & y", .log_x = true, .log_y = true};
  CHECK(has(xy_plot_html(plot), "there is nothing to draw"));
  plot.curves.push_back(
      {.label = "<l>", .points = {{1, 10}, {10, 100}, {gap, gap}, {100, 10}, {1000, 1}, {-5, 3}, {2, 0}}});
  plot.curves.push_back({.role = XyRole::dots, .points = {{3, 3}, {0, 3}}, .notes = {"<n>"}});
  const std::string html = xy_plot_html(plot);
  CHECK(count(html, "<circle") == 1);
  const size_t path = html.find("class=\"curve line");
  REQUIRE(path != std::string::npos);
  CHECK(count(html.substr(path, html.find("/>", path) - path), "M") == 2);
  CHECK(!has(html, "nan"));
  CHECK(!has(html, "inf"));
  for (const char* evil : {"<t>", "<l>", "<n>", "x & y"}) CHECK_MESSAGE(!has(html, evil), evil);
  CHECK(has(html, "<title>&lt;n&gt;</title>"));
}

TEST_CASE("a gnuplot script holds its data, and its texts cannot end their quotes") {
  XyPlot plot{.id = "p", .title = "it's", .x_name = "x", .log_x = true};
  plot.curves.push_back({.label = "a'; system 'ls", .points = {{1, 2}, {gap, gap}, {3, 4}}});
  const std::string script = xy_plot_gnuplot(plot);
  CHECK(has(script, "$curve0 << END\n1 2\n\n3 4\nEND\n"));
  CHECK(has(script, "title 'a''; system ''ls'"));
  CHECK(has(script, "set title 'it''s'"));
  CHECK(has(script, "set logscale x"));
  CHECK(!has(script, "set logscale y"));
}

TEST_CASE("the page of a study has every chart, refers to nothing outside and quotes its texts") {
  const Study study = small_study();
  const std::string page = law_page(study, "<script>x", "shoal");
  for (const char* id : {"loss-against-flops", "isoflop-profiles", "optimal-params", "optimal-tokens",
                         "tokens-per-parameter", "isoloss-params", "isoloss-4-terms", "width-and-depth"}) {
    CHECK_MESSAGE(has(page, "id=\"" + std::string(id) + "\""), id);
  }
  for (const char* outside : {" src=", " href=", "@import", "fetch(", "url(h", "url(\""}) {
    CHECK_MESSAGE(!has(page, outside), outside);
  }
  CHECK(!has(page, "<script>x"));
  CHECK(!has(page, "<b>64"));
  CHECK(!has(page, "nan"));
  CHECK(!has(page, "there is nothing to draw"));
  CHECK(count(page, "<figure") == count(page, "</figure>"));
}

TEST_CASE("the files of a study are written side by side") {
  const test::TempFolder folder;
  const std::string page = write_law_files(small_study(), folder / "deep/fit", "t", "shoal");
  CHECK(page == folder / "deep/fit/report.html");
  size_t scripts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "deep/fit")) {
    const std::string name = entry.path().filename().string();
    CHECK(!has(name, ".part"));
    scripts += entry.path().extension() == ".gp" ? 1 : 0;
  }
  CHECK(scripts >= 8);
  CHECK(std::filesystem::exists(folder / "deep/fit/fit.json"));
  CHECK(std::filesystem::exists(folder / "deep/fit/advice.csv"));
}

}  // namespace shoal::report
