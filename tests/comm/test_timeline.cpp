#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "comm/timeline.h"

using namespace shoal;
using std::chrono::microseconds;

namespace {

const Timeline::Time start{std::chrono::seconds(10)};

Timeline::Time at(int us) {
  return start + microseconds(us);
}

void collective(Timeline& timeline, const char* label, int called, int waited, int done, double bytes) {
  timeline.finished({label, bytes, at(called), at(called + 1), at(waited), at(done)});
}

// A step of three products with two collectives under way at once.
void fill(Timeline& timeline) {
  timeline.record(true);
  timeline.add("matmul", at(10), at(30));
  timeline.add("matmul", at(30), at(60));
  collective(timeline, "AG_z layers.0", 5, 60, 80, 100);
  collective(timeline, "AR_y layers.0", 40, 80, 90, 40);
  timeline.add("matmul", at(90), at(95));
  timeline.add("step", at(0), at(100));
  collective(timeline, "AR_data", 110, 110, 120, 7);
}

struct Row {
  int64_t time;
  std::string event, name;
  int process, thread;
  double bytes;
};

std::vector<Row> rows_of(const std::string& csv) {
  std::vector<Row> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, ',');)
      fields.push_back(part.substr(part.find_first_not_of(' ')));
    REQUIRE(fields.size() == 6);
    REQUIRE(line.back() == ',');
    rows.push_back({std::stoll(fields[0]), fields[1], fields[2], std::stoi(fields[3]), std::stoi(fields[4]),
                    std::stod(fields[5])});
  }
  return rows;
}

}  // namespace

TEST_CASE("the trace is JSON with spans that nest within each thread") {
  Timeline timeline(100);
  fill(timeline);
  const auto events =
      nlohmann::json::parse("[" + timeline.to_json(3, "rank \"3\"", microseconds(1000)) + "{}]");
  std::map<int, std::vector<std::pair<double, double>>> spans;
  for (const auto& event : events) {
    if (event.value("ph", "") != "X") continue;
    CHECK(event.at("pid") == 3);
    const double begin = event.at("ts"), end = begin + event.at("dur").get<double>();
    auto& of_thread = spans[event.at("tid")];
    for (const auto& [b, e] : of_thread) CHECK((end <= b || begin >= e || (begin >= b && end <= e)));
    of_thread.emplace_back(begin, end);
  }
  CHECK(spans.size() == 3);  // two threads of communication: two collectives at once
  CHECK(spans[0].size() == 7);
  CHECK(spans[1].size() == 2);
  CHECK(spans[2].size() == 1);
  CHECK(spans[0].front().first == doctest::Approx(10e6 + 1000));
}

TEST_CASE("the rows of the CSV enter and leave in turn, and count bytes") {
  Timeline timeline(100);
  fill(timeline);
  CHECK(Timeline::csv_heading() == "Timestamp (ns), Event Type, Name, Process, Thread, bytes, Attributes\n");
  std::map<int, std::vector<std::string>> open;
  std::map<std::string, double> bytes;
  int64_t last = 0;
  for (const Row& row : rows_of(timeline.to_csv(3, microseconds(0)))) {
    CHECK(row.time > last);
    last = row.time;
    CHECK(row.process == 3);
    auto& stack = open[row.thread];
    if (row.event == "Enter") {
      stack.push_back(row.name);
      bytes[row.name] -= row.bytes;
    } else {
      REQUIRE(row.event == "Leave");
      REQUIRE(!stack.empty());
      CHECK(stack.back() == row.name);
      bytes[row.name] += row.bytes;
      stack.pop_back();
    }
  }
  for (const auto& [thread, stack] : open) CHECK(stack.empty());
  CHECK(bytes["AG_z layers.0"] == 100);
  CHECK(bytes["AR_y layers.0"] == 40);
  CHECK(bytes["step"] == 140);  // of all that ended in it
}

TEST_CASE("memory is bounded, and nothing is kept while recording is off") {
  Timeline timeline(3);
  timeline.add("early", at(0), at(1));
  fill(timeline);
  CHECK(timeline.left_out() == 7);
  CHECK(timeline.to_json(0, "", {}).find("early") == std::string::npos);
  CHECK(rows_of(timeline.to_csv(0, {})).size() == 6);
}

TEST_CASE("a communicator tells its observers, and the ledger gets the time") {
  Traffic traffic;
  Timeline timeline(10);
  timeline.record(true);
  auto comm = make_traced_communicator(make_counting_communicator(0, 2), traffic, {&timeline});
  std::vector<float> values(8, 1.0f);
  Request request = comm->all_reduce(View(values.data(), DType::f32, {8}), Reduce::sum, "AR_data bucket 0");
  request.wait();
  comm->barrier("barrier");
  const auto rows = rows_of(timeline.to_csv(0, {}));
  REQUIRE(rows.size() == 8);  // both collectives, and both waits
  const TrafficEntry entry = traffic.total("AR_data");
  CHECK(entry.under_way_seconds > 0);
  CHECK(entry.wait_seconds <= entry.under_way_seconds);
}
