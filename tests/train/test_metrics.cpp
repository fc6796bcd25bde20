#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "temp_folder.h"
#include "train/metrics_file.h"
#include "train/step_line.h"

using namespace shoal;

namespace {

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

StepRecord example() {
  StepRecord r;
  r.step = 120;
  r.step_tokens = 16384;
  r.tokens = 120 * 16384;
  r.loss = 3.2141;
  r.grad_norm = 0.834;
  r.lr = 2.9e-4;
  r.seconds = 0.412;
  r.data_seconds = 0.001236;
  r.tokens_per_second = 16384 / 0.412;
  r.mfu = 0.412;
  r.memory_bytes = int64_t(1.2 * (1 << 30));
  return r;
}

}  // namespace

TEST_CASE("the step line") {
  SpeedMeter speed;
  StepRecord r = example();
  for (int i = 0; i < 10; ++i) speed.add(r);
  CHECK(step_line(r, 5000, speed) ==
        "step 120/5000 | loss 3.214 | grad 0.83 | lr 2.9e-4 | 412 ms | 39.8k tok/s | MFU 41.2% | data 0.3% | "
        "mem 1.2G | "
        "eta 34m");
  CHECK(progress_line(r, 240, speed, 40) == "[==========>         ] step 120/240 | l");
  CHECK(progress_line(r, 120, speed, 30) == "[====================] step 1");
}

TEST_CASE("the first steps do not count in averages") {
  SpeedMeter speed(2, 3);
  StepRecord slow = example(), fast = example();
  slow.seconds = 10;
  fast.seconds = 1;
  speed.add(slow);
  CHECK(speed.seconds_per_step() == 10);
  speed.add(slow);
  for (int i = 0; i < 5; ++i) speed.add(fast);
  CHECK(speed.seconds_per_step() == 1);
  CHECK(speed.average_tokens_per_second() == 16384);
}

TEST_CASE("records are JSON and losses survive bit by bit") {
  StepRecord r = example();
  r.loss = 0.1 + 0.2;
  const auto json = nlohmann::json::parse(to_json(r));
  CHECK(json["loss"].get<double>() == r.loss);
  CHECK(json["step"] == 120);
  CHECK_FALSE(json.contains("skipped"));
  CHECK_FALSE(json.contains("loss_plain"));
  r.loss = 0.0 / 0.0;
  r.applied = false;
  r.masked = true;
  const auto bad = nlohmann::json::parse(to_json(r));
  CHECK(bad["loss"].is_null());
  CHECK(bad["skipped"] == true);
  CHECK(bad.contains("loss_dropped"));
}

TEST_CASE("a reopened metrics file holds each step once") {
  const test::TempFolder dir;
  const std::string path = dir / "metrics.jsonl";
  const auto line = [](int64_t step) { return "{\"step\":" + std::to_string(step) + ",\"loss\":1}"; };
  {
    MetricsFile file(path, 0);
    for (int64_t step = 1; step <= 12; ++step) file.append(line(step));
  }
  std::ofstream(path, std::ios::app) << "{\"step\":13,\"lo";  // cut short by a crash
  {
    MetricsFile file(path, 13);
    file.append(line(13));
  }
  {
    MetricsFile file(path, 10);
    file.append(line(11));
  }
  std::string expected;
  for (int64_t step = 1; step <= 11; ++step) expected += line(step) + "\n";
  CHECK(read_all(path) == expected);
}
