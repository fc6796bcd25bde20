#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "train/grid_table.h"
#include "train/tiny_run.h"
#include "train/traffic_report.h"
#include "train/trainer.h"

using namespace shoal;
using nlohmann::json;
using test::StopAfter;
using test::TinyRun;

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// How often each span is there; all of them nest, in the JSON and in the CSV alike.
std::map<std::string, int> checked_spans(const TinyRun& run) {
  std::map<std::string, int> counts, in_csv;
  std::vector<std::pair<double, double>> spans;
  const json trace = json::parse(read(run.path("run/trace.json")));
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    ++counts[event.at("name")];
    const double begin = event.at("ts"), end = begin + event.at("dur").get<double>();
    for (const auto& [b, e] : spans) {
      CHECK((end <= b + 1e-3 || begin >= e - 1e-3 || (begin >= b - 1e-3 && end <= e + 1e-3)));
    }
    spans.emplace_back(begin, end);
  }
  std::istringstream csv(read(run.path("run/trace.csv")));
  std::string line;
  std::getline(csv, line);
  CHECK(line == "Timestamp (ns), Event Type, Name, Process, Thread, bytes, Attributes");
  std::vector<std::string> open;
  while (std::getline(csv, line)) {
    std::istringstream fields(line);
    std::string time, event, name;
    std::getline(fields, time, ',');
    std::getline(fields, event, ',');
    std::getline(fields, name, ',');
    if (event == " Enter") {
      open.push_back(name);
      ++in_csv[name.substr(1)];
    } else {
      REQUIRE(!open.empty());
      CHECK(open.back() == name);
      open.pop_back();
    }
  }
  CHECK(open.empty());
  CHECK(in_csv == counts);
  return counts;
}

}  // namespace

TEST_CASE("a trace tells of the steps asked for, and of what the step computes") {
  const TinyRun run;
  run.train({"run.steps=6", "trace.steps=2", "trace.first=3", "eval.every=0"});
  const auto spans = checked_spans(run);
  CHECK(spans.at("step") == 2);
  CHECK(spans.at("forward and backward") == 2);
  CHECK(spans.at("update") == 2);
  CHECK(spans.at("matmul") > 20);
}

TEST_CASE("a trace is written when the run stops within its window, and not without a step in it") {
  const TinyRun run;
  CHECK(run.train({"run.steps=9", "trace.steps=5", "trace.first=2", "eval.every=0"},
                  std::make_unique<StopAfter>(4)) == ExitCode::stopped);
  CHECK(checked_spans(run).at("step") == 3);
  CHECK(run.train({"run.dir=" + run.path("short"), "run.steps=4", "trace.steps=5", "trace.first=5"}) ==
        ExitCode::done);
  CHECK(read(run.path("short/trace.json")).empty());
}

TEST_CASE("tracing does not change a run") {
  const TinyRun run;
  run.train({"run.steps=4", "trace.steps=2", "trace.first=2"});
  run.train({"run.steps=4", "run.dir=" + run.path("plain")});
  CHECK(run.metrics("run") == run.metrics("plain"));
}

TEST_CASE("the start table says who is where") {
  RunSpec spec;
  spec.batch = {.global = 32, .micro = 4};
  GridFacts facts{
      .grid = {{2, 1, 1, 2}}, .hosts = {"a", "a", "b", "b"}, .memory = {1 << 20, 1 << 20, 1 << 20, 1 << 21}};
  facts.bandwidth = {double(1 << 30), 0, 0, double(1 << 29)};
  facts.bandwidth_bytes = 4 << 20;
  const auto lines = grid_lines(facts, spec);
  REQUIRE(lines.size() == 8);
  CHECK(lines[0] == "grid         x 2 * y 1 * z 1 * data 2 = 4 ranks on 2 hosts");
  CHECK(lines[4] == "             rank 3    x 1   y 0   z 0   data 1    b");
  CHECK(lines[5] ==
        "a rank       16 of 32 sequences a step, in 4 passes of 4, shared with 2 ranks along x and y");
  CHECK(lines[6] == "memory       1M to 2M a rank before the first step");
  CHECK(lines[7] ==
        "bandwidth    x 1.0G/s, data 512M/s sent a rank, all-reduce of 4M, the slowest group of each axis");

  facts = {.grid = {{1, 1, 1, 100}},
           .hosts = std::vector<std::string>(100, "a"),
           .memory = std::vector<int64_t>(100)};
  const auto many = grid_lines(facts, spec);
  CHECK(many.size() == 1 + 8 + 1 + 8 + 2);
  CHECK(has(many[10], "rank 92 "));
  CHECK(has(many[17], "rank 99 "));
}

TEST_CASE("traffic is summed by purpose, and kept by label") {
  Traffic traffic;
  traffic.add("AG_z layers.0", 1000);
  traffic.add("AG_z layers.1", 1000);
  traffic.add("AR_data bucket 0", 512);
  traffic.add_time("AG_z layers.0", 0.001, 0.004);
  traffic.add_time("AG_z layers.1", 0.001, 0.004);
  const TrafficSummary summary{.grid = {{1, 1, 2, 2}}, .rank = 0, .steps = 2, .seconds = 3};
  const auto lines = traffic_lines(summary, traffic);
  REQUIRE(lines.size() == 2);
  CHECK(has(lines[0], "AG_z"));
  CHECK(has(lines[0], "1000B a step in 1 calls, 1.0 ms waited of 4.0 ms, 75 % hidden"));
  const auto text = json::parse(to_json(summary, traffic));
  CHECK(text.at("ranks") == 4);
  CHECK(text.at("labels").size() == 3);
  CHECK(text.at("labels")[1].at("label") == "AG_z layers.1");
  CHECK(text.at("labels")[0].at("under_way_seconds") == 0.004);
}
