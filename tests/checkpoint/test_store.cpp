#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "checkpoint/store.h"
#include "sample.h"
#include "temp_folder.h"

using namespace shoal;
namespace fs = std::filesystem;

namespace {

void save(const CheckpointStore& store, int64_t step) {
  float value = float(step);
  write_checkpoint(store.path_of(step), {step, step * 32, "", {}},
                   {{"model/w", {}, {}, View(&value, DType::f32, {})}});
}

std::vector<int64_t> steps_of(const CheckpointStore& store) {
  std::vector<int64_t> steps;
  for (const StoredCheckpoint& c : store.list()) steps.push_back(c.step);
  return steps;
}

void flip(const std::string& path, size_t at) {
  std::string bytes = test::read_file(path);
  bytes[at] = char(bytes[at] ^ 1);
  test::write_file(path, bytes);
}

const Report never = [](const std::string& line) { FAIL(line); };

// What a run of `steps` steps that saves every `every` leaves.
std::vector<int64_t> left_of(const Retention& retention, int64_t steps, int64_t every) {
  const test::TempFolder folder;
  const CheckpointStore store(folder / "ckpt", retention);
  store.prepare();
  for (int64_t step = 0; step <= steps; ++step) {
    if (step % every != 0 && !(retention.pythia && in_pythia_schedule(step))) continue;
    save(store, step);
    store.prune(step, never);
  }
  return steps_of(store);
}

}  // namespace

TEST_CASE("the pythia schedule has the 154 published steps") {
  int64_t count = 0;
  for (int64_t step = 0; step <= 143000; ++step) count += in_pythia_schedule(step);
  CHECK(count == 154);
  for (int64_t step : {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000, 143000})
    CHECK(in_pythia_schedule(step));
  for (int64_t step : {3, 24, 1024, 999, 500, 1536}) CHECK(!in_pythia_schedule(step));
}

TEST_CASE("retention keeps the last ones, multiples and the schedule") {
  using Steps = std::vector<int64_t>;
  CHECK(left_of({.keep_last = 2}, 50, 10) == Steps{40, 50});
  CHECK(left_of({.keep_last = 1}, 50, 10) == Steps{50});
  CHECK(left_of({.keep_last = 0}, 50, 10) == Steps{0, 10, 20, 30, 40, 50});
  CHECK(left_of({.keep_last = 1, .keep_every = 20}, 50, 10) == Steps{0, 20, 40, 50});
  CHECK(left_of({.keep_last = 1, .keep_every = 0, .pythia = true}, 40, 15) == Steps{0, 1, 2, 4, 8, 16, 32});
}

TEST_CASE("pruning never touches newer files, strangers, or anything when the new one is not good") {
  const test::TempFolder folder;
  const CheckpointStore store(folder.path(), {.keep_last = 1});
  for (int64_t step : {10, 20, 30, 40}) save(store, step);
  for (const char* name : {"step_5.h5", "step_000001.txt", "notes.h5", "step_0000x1.h5", "step_-00001.h5"}) {
    test::write_file(folder / name, "x");
  }
  flip(store.path_of(30), 4000);  // in the seal
  store.prune(30, never);
  CHECK(steps_of(store) == std::vector<int64_t>{10, 20, 30, 40});
  save(store, 30);
  store.prune(30, never);
  CHECK(steps_of(store) == std::vector<int64_t>{30, 40});
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 7);
}

TEST_CASE("large steps and names") {
  const CheckpointStore store("ckpt", {});
  CHECK(store.path_of(7) == "ckpt/step_000007.h5");
  CHECK(store.path_of(12345678) == "ckpt/step_12345678.h5");
  const test::TempFolder folder;
  const CheckpointStore real(folder.path(), {});
  for (int64_t step : {999999, 1000000, 5}) save(real, step);
  CHECK(steps_of(real) == std::vector<int64_t>{5, 999999, 1000000});
}

TEST_CASE("the newest good checkpoint is used, a damaged one is reported and set aside") {
  const test::TempFolder folder;
  const CheckpointStore store(folder / "ckpt", {});
  store.prepare();
  CHECK(!store.open_newest(never, true));
  for (int64_t step : {10, 20, 30}) save(store, step);
  CHECK(store.open_newest(never, true)->info().step == 30);

  flip(store.path_of(30), fs::file_size(store.path_of(30)) - 1);
  fs::resize_file(store.path_of(20), 5000);
  std::vector<std::string> lines;
  const Report keep = [&](const std::string& line) { lines.push_back(line); };
  CHECK(store.open_newest(keep, false)->info().step == 10);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("step_000030.h5: damaged") != std::string::npos);
  CHECK(lines[1].find("step_000020.h5: damaged") != std::string::npos);
  CHECK(lines[2].find("step_000010.h5") != std::string::npos);
  CHECK(steps_of(store) == std::vector<int64_t>{10, 20, 30});

  CHECK(store.open_newest(keep, true)->info().step == 10);
  CHECK(steps_of(store) == std::vector<int64_t>{10});
  CHECK(fs::exists(store.path_of(30) + ".damaged"));
  CHECK(store.open_newest(never, true)->info().step == 10);

  // The only one: an error, and it stays where it is.
  flip(store.path_of(10), 100);
  CHECK_THROWS_WITH_AS(store.open_newest(keep, true), doctest::Contains("none of its 1 checkpoints"),
                       RuntimeFailure);
  CHECK(steps_of(store) == std::vector<int64_t>{10});
  CHECK(store.list()[0].problem != "");
}

TEST_CASE("a file under another step's name is not taken for that step") {
  const test::TempFolder folder;
  const CheckpointStore store(folder.path(), {});
  save(store, 10);
  fs::copy_file(store.path_of(10), store.path_of(20));
  std::vector<std::string> lines;
  CHECK(store.open_newest([&](const std::string& line) { lines.push_back(line); }, false)->info().step == 10);
  CHECK(lines.size() == 2);
  CHECK(store.list()[1].problem == "it holds step 10");
}

TEST_CASE("what killed writers left is removed by the next run and never read") {
  const test::TempFolder folder;
  const CheckpointStore store(folder.path(), {});
  save(store, 10);
  test::write_file(store.path_of(20) + ".part", "half a checkpoint");
  CHECK(steps_of(store) == std::vector<int64_t>{10});
  CHECK(store.open_newest(never, true)->info().step == 10);
  store.prepare();
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a checkpoint is found by its file, its run or its folder") {
  const test::TempFolder folder;
  const CheckpointStore store(folder / "ckpt", {});
  store.prepare();
  CHECK_THROWS_WITH_AS(open_checkpoint(folder.path(), never), doctest::Contains("no checkpoint"), UserError);
  CHECK_THROWS_AS(open_checkpoint(folder / "none", never), UserError);
  save(store, 10);
  save(store, 20);
  CHECK(open_checkpoint(store.path_of(10), never).info().step == 10);
  CHECK(open_checkpoint(folder.path(), never).info().step == 20);
  CHECK(open_checkpoint(folder / "ckpt", never).info().step == 20);
}
