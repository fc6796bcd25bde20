// `shoal fit` as a user sees it.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "cli/run_shoal.h"
#include "temp_folder.h"

using namespace shoal::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void write_table(const std::string& path, const std::string& bad_row = "") {
  std::ofstream out(path);
  out << "params,tokens,loss\n";
  for (double n = 1e6; n < 1e9; n *= 3) {
    for (double d = 1e8; d < 1e11; d *= 4) {
      out << n << ',' << d << ',' << 1.8 + 480 * std::pow(n, -0.35) + 2000 * std::pow(d, -0.37) << '\n';
    }
  }
  out << bad_row;
}

}  // namespace

TEST_CASE("fit prints the three approaches and the advice, and writes its report") {
  const TempFolder folder;
  write_table(folder / "t.csv");
  const Result result =
      run_shell("shoal fit t.csv --bootstraps 20 --budgets 1e18,1e19 --output out", folder.path());
  CHECK(result.exit_code == 0);
  for (const char* part :
       {"1 hull", "3 loss = E + sum", "params        0.3500", "1e+18", "out/report.html"}) {
    CHECK_MESSAGE(contains(result.out, part), part);
  }
  CHECK(!contains(result.out, "1e+20"));
  CHECK(std::filesystem::exists(folder / "out/loss-against-flops.gp"));
}

TEST_CASE("fit names the row that cannot be used, and the flag that is wrong") {
  const TempFolder folder;
  write_table(folder / "t.csv", "1e6,1e9,nan\n");
  Result result = run_shell("shoal fit t.csv", folder.path());
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "t.csv:37: column loss cannot be used (got: nan)"));
  CHECK(contains(result.err, "--skip-bad-rows"));
  result = run_shell("shoal fit t.csv --skip-bad-rows --bootstraps 0", folder.path());
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "warning: left out: t.csv:37: column loss"));

  write_table(folder / "t.csv");
  for (const auto& [words, complaint] :
       {std::pair{"--law width+tokens", "the point has no value for the term width"},
        {"--law size", "unknown term of a law"},
        {"--law tokens+tokens", "given twice"},
        {"--budgets 1e18,x", "not a list of numbers"},
        {"--flops narayanan", "no width or depth"},
        {"--flops column", "the point has no FLOPs"},
        {"--column loss", "QUANTITY=NAME"},
        {"--drop-worst 1000", "leaves nothing"},
        {"--bootstraps -1", "an integer from 0"}}) {
    CAPTURE(words);
    result = run_shell(std::string("shoal fit t.csv ") + words, folder.path());
    CHECK(result.exit_code == 2);
    CHECK_MESSAGE(contains(result.err, complaint), result.err);
  }
  std::ofstream(folder / "few.csv") << "params,tokens,loss\n1e6,1e8,4\n2e6,1e8,3.9\n1e6,2e8,3.8\n";
  result = run_shell("shoal fit few.csv", folder.path());
  CHECK(result.exit_code == 2);
  CHECK(contains(result.err, "too few points to fit (got: 3)"));
}
