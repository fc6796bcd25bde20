#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"
#include "device/device.h"

using namespace shoal;

TEST_CASE("blocks are aligned") {
  const auto device = make_device("cpu");
  for (int64_t bytes : {0, 1, 63, 64, 65, 1000, 4097, 1 << 20, (1 << 21) + 1, 5 << 20}) {
    const auto block = device->allocate(bytes);
    const auto address = reinterpret_cast<uintptr_t>(block.get());
    CHECK(address % 64 == 0);
    std::memset(block.get(), 1, size_t(bytes));
  }
}

TEST_CASE("a freed block is handed out again and the accounting follows") {
  const auto device = make_device("cpu");
  auto first = device->allocate(1000);
  const void* address = first.get();
  const MemoryUse held = device->memory();
  CHECK(held.current >= 1000);
  CHECK(held.current < 1000 + 64);
  first.reset();
  CHECK(device->memory().current == 0);
  CHECK(device->memory().peak == held.peak);
  CHECK(device->memory().reserved == held.reserved);
  const auto second = device->allocate(1000);
  CHECK(second.get() == address);
  CHECK(device->memory().reserved == held.reserved);
}

TEST_CASE("release_cache returns what is not in use") {
  const auto device = make_device("cpu");
  const auto kept = device->allocate(100);
  device->allocate(8 << 20).reset();
  CHECK(device->memory().reserved >= 8 << 20);
  device->release_cache();
  CHECK(device->memory().reserved == device->memory().current);
}

TEST_CASE("free neighbours join, so that blocks of other sizes fit where they lay") {
  const auto device = make_device("cpu");
  std::vector<std::shared_ptr<void>> blocks;
  for (int64_t i = 1; i <= 50; ++i) blocks.push_back(device->allocate(i * 1000));
  const int64_t reserved = device->memory().reserved;
  // Every second block, then the rest: each joins with its neighbours on both sides.
  for (size_t i = 0; i < 50; i += 2) blocks[i].reset();
  for (size_t i = 1; i < 50; i += 2) blocks[i].reset();
  CHECK(device->memory().current == 0);
  const auto whole = device->allocate(reserved);
  CHECK(device->memory().reserved == reserved);
}

TEST_CASE("a lasting block goes to the upper end of what passing ones leave") {
  const auto device = make_device("cpu");
  const auto below = device->allocate(6400);
  auto hole = device->allocate(64000);
  const auto above = device->allocate(6400);
  const int64_t reserved = device->memory().reserved;
  const auto* begin = static_cast<const char*>(hole.get());
  hole.reset();
  const auto lasting = device->allocate(640, Lifetime::lasting);
  CHECK(static_cast<const char*>(lasting.get()) == begin + 64000 - 640);
  CHECK(device->allocate(64000 - 640).get() == begin);
  CHECK(device->memory().reserved == reserved);
}

TEST_CASE("blocks in use never overlap") {
  const auto device = make_device("cpu");
  std::vector<std::pair<std::shared_ptr<void>, size_t>> blocks(40);
  uint64_t random = 1;
  for (int round = 0; round < 4000; ++round) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const size_t i = (random >> 33) % blocks.size();
    auto& [block, size] = blocks[i];
    if (block) {
      const auto* bytes = static_cast<const unsigned char*>(block.get());
      REQUIRE(std::all_of(bytes, bytes + size, [&](unsigned char b) { return b == i; }));
      block.reset();
    } else {
      size = (random >> 40) % 20000;
      block = device->allocate(int64_t(size), random >> 63 ? Lifetime::lasting : Lifetime::passing);
      std::memset(block.get(), int(i), size);
    }
    if (round % 1000 == 999) device->release_cache();
  }
}

TEST_CASE("a tensor may outlive its device") {
  Tensor tensor;
  {
    const auto device = make_device("cpu");
    tensor = Tensor(*device, DType::f32, {3, 5});
  }
  tensor.view().as<float>()[14] = 1.0f;
  CHECK(tensor.view().as<float>()[14] == 1.0f);
}

TEST_CASE("threads can allocate at once") {
  const auto device = make_device("cpu");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&device, i] {
      for (int64_t n = 1; n < 200; ++n) {
        const auto block = device->allocate(n * 100);
        std::memset(block.get(), i, size_t(n * 100));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(device->memory().current == 0);
}

TEST_CASE("errors of the device are stated") {
  CHECK_THROWS_WITH_AS(make_device("tpu"), doctest::Contains("cpu"), UserError);
  const auto device = make_device("cpu");
  CHECK_THROWS_WITH_AS(device->allocate(int64_t{1} << 60), doctest::Contains("out of memory"),
                       RuntimeFailure);
}
