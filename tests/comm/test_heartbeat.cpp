#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "comm/heartbeat.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("beats are read back as they were written, whatever came before") {
  const test::TempFolder folder;
  Heartbeat first, third;
  first.started("AG_z nowhere");
  CHECK(first.laggards(2).empty());
  first.open(folder.path(), 0);
  third.open(folder.path(), 2);
  first.beat(17, "eval");
  first.started("AG_z " + std::string(500, 'x'));
  first.started("AG_z layers.3.mlp");
  CHECK(std::filesystem::exists(folder / "heartbeat.json"));
  CHECK(std::filesystem::file_size(folder / "heartbeat.json") == 384);
  const auto beats = read_beats(folder.path(), 3);
  CHECK(beats[0].step == 17);
  CHECK(beats[0].phase == "eval");
  CHECK(beats[0].collectives == 3);
  CHECK(beats[0].label == "AG_z layers.3.mlp");
  CHECK(beats[0].pid > 0);
  CHECK(beats[1].pid == 0);
  CHECK(beats[2].phase == "start");
  CHECK(has(first.laggards(3), "rank 1, which has given no sign of life"));
}

TEST_CASE("those who are behind are named with what they did last") {
  std::vector<Beat> beats(4);
  for (int r = 0; r < 4; ++r) beats[size_t(r)] = {r, 100 + r, "node7", 12, "step", 50, "AR_y layers.1", 1000};
  CHECK(name_laggards(beats, 1002) == "no rank is behind the others");
  beats[2].collectives = 48;
  beats[2].label = "AG_z layers.0";
  const std::string text = name_laggards(beats, 1042.4);
  CHECK(text ==
        "behind the others: rank 2 (process 102 on node7), after step 12, phase step, last collective AG_z "
        "layers.0 (number 48), last sign of life 42 s ago");
  beats[1].step = 11;  // a step counts more
  beats[1].collectives = 60;
  CHECK(has(name_laggards(beats, 1002), "rank 1 "));
  CHECK(!has(name_laggards(beats, 1002), "rank 2 "));
  beats[3] = {.rank = 3};
  CHECK(has(name_laggards(beats, 1002), "rank 3, which has given no sign of life"));
}
