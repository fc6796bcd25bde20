#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>

#include "base/error.h"
#include "checkpoint/saver.h"
#include "sample.h"
#include "temp_folder.h"

using namespace shoal;

namespace {
const Report never = [](const std::string& line) { FAIL(line); };
}

TEST_CASE("a save in the background holds the state of its moment, and the saves follow one another") {
  const test::TempFolder folder;
  const CheckpointStore store(folder.path(), {.keep_last = 2});
  const auto device = make_device("cpu");
  test::Sample sample;
  sample.add("model/large", DType::f32, {1000, 1000});
  CheckpointSaver saver(store, never);
  std::vector<test::Sample> states;
  for (int64_t step = 1; step <= 4; ++step) {
    sample.info.step = step;
    for (auto& memory : sample.memory) {
      if (!memory.empty()) std::memset(memory.data(), int(step), memory.size());
    }
    saver.save(sample.info, sample.tensors, *device);
    for (auto& memory : sample.memory) {
      if (!memory.empty()) std::memset(memory.data(), 99, memory.size());  // training goes on
    }
  }
  saver.wait();
  CHECK(!saver.busy());
  CHECK(store.list().size() == 2);
  for (int64_t step : {3, 4}) {
    sample.info.step = step;
    for (auto& memory : sample.memory) {
      if (!memory.empty()) std::memset(memory.data(), int(step), memory.size());
    }
    CheckpointReader reader(store.path_of(step));
    CHECK(test::same_content(reader, sample));
  }
}

TEST_CASE("saving without a copy gives the same file") {
  const test::TempFolder folder;
  const CheckpointStore store(folder.path(), {});
  const auto device = make_device("cpu");
  const test::Sample sample;
  CheckpointSaver saver(store, never);
  saver.save_now(sample.info, sample.tensors);
  const std::string now = test::read_file(store.path_of(7));
  saver.save(sample.info, sample.tensors, *device);
  saver.wait();
  CHECK(test::read_file(store.path_of(7)) == now);
}

TEST_CASE("a failure in the background comes at the next call, once, and the next save works") {
  const test::TempFolder folder;
  const CheckpointStore store(folder.path(), {});
  const auto device = make_device("cpu");
  const test::Sample sample;
  CheckpointSaver saver(store, never);
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{8000, before.rlim_max};
  const auto fail_once = [&] {
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    saver.save(sample.info, sample.tensors, *device);
    while (saver.busy()) std::this_thread::yield();
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  };
  fail_once();
  CHECK_THROWS_WITH_AS(saver.poll(), doctest::Contains("File too large"), RuntimeFailure);
  saver.poll();
  saver.wait();
  fail_once();
  CHECK_THROWS_AS(saver.wait(), RuntimeFailure);
  fail_once();
  CHECK_THROWS_AS(saver.save(sample.info, sample.tensors, *device), RuntimeFailure);
  std::signal(SIGXFSZ, handler);
  saver.save(sample.info, sample.tensors, *device);
  saver.wait();
  CheckpointReader reader(store.path_of(7));
  CHECK(test::same_content(reader, sample));
}

TEST_CASE("a checkpoint is read while another one is written") {
  const test::TempFolder folder;
  const CheckpointStore store(folder.path(), {.keep_last = 0});
  const auto device = make_device("cpu");
  test::Sample sample;
  CheckpointSaver saver(store, never);
  saver.save_now(sample.info, sample.tensors);
  CheckpointReader reader(store.path_of(7));
  for (int i = 0; i < 100; ++i) {
    sample.info.step = 8 + i;
    saver.save(sample.info, sample.tensors, *device);
    reader.verify();
    CheckpointReader again(store.path_of(7));
    again.verify();
  }
  saver.wait();
}
