#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "report/page.h"
#include "report/run_log.h"
#include "temp_folder.h"

namespace shoal::report {

TEST_CASE("a report shows time and bytes by purpose, and how much was hidden") {
  const test::TempFolder folder;
  std::ofstream(folder / "metrics.jsonl") << "{\"step\":1,\"tokens\":64,\"loss\":9.5}\n";
  std::ofstream(folder / "traffic.json") << R"({"ranks": 4, "grid": {"x": 2, "y": 1, "z": 2, "data": 1},
    "rank": 0, "steps": 10, "seconds": 5, "labels": [
    {"label": "AG_z layers.0", "calls": 20, "ring_bytes": 10240, "wait_seconds": 0.1, "under_way_seconds": 0.4},
    {"label": "AG_z layers.1", "calls": 20, "ring_bytes": 10240, "wait_seconds": 0.1, "under_way_seconds": 0.4},
    {"label": "stop", "calls": 10, "ring_bytes": 40, "wait_seconds": 0.05, "under_way_seconds": 0.05},
    {"label": 3}, 7]})";
  const RunLog run = read_run(folder.path());
  REQUIRE(run.traffic.purposes.size() == 2);
  CHECK(run.traffic.grid == "x 2, y 1, z 2, data 1");
  CHECK(run.traffic.purposes[0].ring_bytes == 20480);
  const std::string page = report_page({run}, {});
  CHECK(page.find("<tr><th>AG_z</th><td>4</td><td>2K</td><td>20.0</td><td>80.0</td><td>75 %</td></tr>") !=
        std::string::npos);
  CHECK(page.find("<tr><th>stop</th><td>1</td><td>4B</td><td>5.0</td><td>5.0</td><td>0 %</td></tr>") !=
        std::string::npos);
  CHECK(page.find("10 steps of 500.0 ms") != std::string::npos);
}

TEST_CASE("a run of one rank, or a spoilt file, has no such part") {
  const test::TempFolder folder;
  std::ofstream(folder / "metrics.jsonl") << "{\"step\":1,\"tokens\":64,\"loss\":9.5}\n";
  CHECK(report_page({read_run(folder.path())}, {}).find("Communication") == std::string::npos);
  std::ofstream(folder / "traffic.json") << "{\"labels\": [";
  CHECK(report_page({read_run(folder.path())}, {}).find("Communication") == std::string::npos);
}

}  // namespace shoal::report
