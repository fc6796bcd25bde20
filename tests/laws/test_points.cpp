// Tables as people have them, and what is said about rows that cannot be used.
#include <doctest/doctest.h>

#include <fstream>
#include <numeric>

#include "base/error.h"
#include "laws/flops.h"
#include "laws/points.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

struct Table {
  test::TempFolder folder;
  std::string path;
  explicit Table(const std::string& text, const std::string& name = "t.csv") : path(folder / name) {
    std::ofstream(path) << text;
  }
  std::string complaint() const {
    try {
      read_law_points(path);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
};

bool says(const Table& table, const std::string& part) {
  const std::string text = table.complaint();
  CAPTURE(text);
  CAPTURE(part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a table is read by the names of its columns, with quotes, CRLF, a byte order mark and any order") {
  const Table table(
      "\xEF\xBB\xBFloss,run,\"tokens\",params,depth,width\r\n2.5,\"a, b\",1e9,1e6,4,128\r\n\r\n");
  const auto points = read_law_points(table.path);
  REQUIRE(points.size() == 1);
  CHECK(points[0].loss == 2.5);
  CHECK(points[0].run == "a, b");
  CHECK(points[0].tokens == 1e9);
  CHECK(points[0].params == 1e6);
  CHECK(points[0].width == 128);
  CHECK(points[0].depth == 4);
  CHECK(points[0].flops == 0);
  CHECK(describe(points[0]) == table.path + ":2 (run a, b)");
}

TEST_CASE("a column can have any name, and a name that is not there is no column") {
  const Table table("N,D,loss,valid_loss\n1e6,1e9,9,2.5\n");
  LawTableOptions options;
  options.columns = {{"params", "N"}, {"tokens", "D"}, {"loss", "valid_loss"}};
  CHECK(read_law_table(table.path, options).points[0].loss == 2.5);
  options.columns["loss"] = "test_loss";
  CHECK_THROWS_WITH_AS(read_law_table(table.path, options),
                       doctest::Contains("there is no column test_loss for loss"), UserError);
  options.columns = {{"size", "N"}};
  CHECK_THROWS_WITH_AS(read_law_table(table.path, options), doctest::Contains("no such quantity"), UserError);
}

TEST_CASE("each bad row is named") {
  for (const char* loss : {"nan", "inf", "-2", "0", "", "2.5x", "diverged"}) {
    CAPTURE(loss);
    const Table table(std::string("params,tokens,loss\n1e6,1e9,3\n1e6,2e9,") + loss + "\n");
    CHECK(says(table, table.path + ":3: column loss cannot be used"));
  }
  CHECK(says(Table("params,tokens,loss\n1,2\n"), ":2: the row has another number of columns"));
  CHECK(says(Table("params,tokens\n1,2\n"), "there is no column loss"));
  CHECK(says(Table("params,loss\n1,2\n"), "neither a column tokens nor a column flops"));
  CHECK(says(Table("params,tokens,loss\n"), "there is no row of data"));
  CHECK(says(Table("{\"params\":1}\nrubbish\n", "t.jsonl"), ":1: there is no column loss"));
  CHECK(says(Table("rubbish\n", "t.jsonl"), ":1: not a JSON object"));
  CHECK_THROWS_AS(read_law_points("/no/such/table.csv"), UserError);
}

TEST_CASE("bad rows are left out on request, each with a warning") {
  const Table table("params,tokens,loss\n1e6,1e9,3\n1e6,2e9,nan\n-1,2e9,3\n1e6,4e9,2.8\n");
  LawTableOptions options;
  options.skip_bad_rows = true;
  const LawTable read = read_law_table(table.path, options);
  CHECK(read.points.size() == 2);
  REQUIRE(read.warnings.size() == 2);
  CHECK(read.warnings[0].find(":3: column loss") != std::string::npos);
  CHECK(read.warnings[1].find(":4: column params") != std::string::npos);
  const Table useless("params,tokens,loss\n1e6,2e9,nan\n");
  CHECK_THROWS_WITH_AS(read_law_table(useless.path, options), doctest::Contains("that can be used"),
                       UserError);
}

TEST_CASE("shapes are told apart, sizes read off a figure are not") {
  std::vector<LawPoint> points(6);
  const double params[] = {2e9, 1e6, 1.001e6, 1e6, 1.01e6, 2.0002e9};
  for (size_t i = 0; i < 6; ++i) points[i].params = params[i];
  points[3].width = 128;
  points[3].depth = 2;
  using Groups = std::vector<std::vector<size_t>>;
  CHECK(by_shape(points) == Groups{{1, 2}, {3}, {4}, {0, 5}});
}

TEST_CASE("resamples draw as many as there are, of points or of whole shapes") {
  std::vector<LawPoint> points(40);
  for (size_t i = 0; i < 40; ++i) points[i].params = double(1 + i / 4);  // ten shapes of four points
  for (uint64_t n = 0; n < 20; ++n) {
    const auto single = resample_weights(points, Resample::points, 3, n);
    CHECK(std::accumulate(single.begin(), single.end(), 0.0) == 40);
    const auto whole = resample_weights(points, Resample::shapes, 3, n);
    CHECK(std::accumulate(whole.begin(), whole.end(), 0.0) == 40);
    for (size_t i = 0; i < 40; ++i) CHECK(whole[i] == whole[i / 4 * 4]);
    CHECK(single == resample_weights(points, Resample::points, 3, n));
    CHECK(single != resample_weights(points, Resample::points, 4, n));
  }
}

TEST_CASE("FLOPs are counted by the rule that was asked for") {
  LawPoint point;
  point.params = 1e6;
  point.tokens = 1e9;
  point.row = "t.csv:7";
  std::vector<LawPoint> points{point};
  CHECK_THROWS_WITH_AS(count_flops(points, {}), doctest::Contains("t.csv:7: the point has no FLOPs"),
                       UserError);
  CHECK_THROWS_WITH_AS(count_flops(points, {FlopsRule::gemstones}), doctest::Contains("no width or depth"),
                       UserError);
  count_flops(points, {FlopsRule::six_n});
  CHECK(points[0].flops == doctest::Approx(6e15));
  points[0].width = 1024;
  points[0].depth = 28;
  count_flops(points, {FlopsRule::gemstones});
  CHECK(points[0].flops == doctest::Approx(3.578149e18).epsilon(1e-6));
  // Narayanan et al.: GPT-3 with 175B parameters (96 layers of 12288, sequence 2048, vocabulary 51200) costs
  // 96 B s l h^2 (...) an iteration with recomputation.
  points[0].width = 12288;
  points[0].depth = 96;
  count_flops(points, {FlopsRule::narayanan, {2048, 51200, 128}, true});
  const double h = 12288, l = 96;
  CHECK(points[0].flops ==
        doctest::Approx(1e9 * 96 * l * h * h * (1 + 2048 / (6 * h) + 51200 / (16 * l * h))));
}
