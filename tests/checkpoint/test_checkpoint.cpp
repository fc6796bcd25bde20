#include <doctest/doctest.h>
#include <fcntl.h>
#include <rapidcheck.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/seal.h"
#include "checkpoint/tensor_hash.h"
#include "sample.h"
#include "temp_folder.h"

using namespace shoal;

TEST_CASE("tensors that are made one at a time give the same file") {
  const test::TempFolder folder;
  const test::Sample sample;
  std::vector<LazyTensor> lazy;
  for (const StateTensor& tensor : sample.tensors) {
    lazy.push_back({tensor.name, tensor.data.dtype, tensor.shape, [&tensor](const View& values) {
                      if (values.bytes() > 0)
                        std::memcpy(values.data, tensor.data.data, size_t(values.bytes()));
                    }});
  }
  std::swap(lazy.front(), lazy.back());
  write_checkpoint(folder / "a.h5", sample.info, sample.tensors);
  write_checkpoint(folder / "b.h5", sample.info, lazy);
  CHECK(test::read_file(folder / "a.h5") == test::read_file(folder / "b.h5"));
}

TEST_CASE("a checkpoint gives back every bit, and the same state gives the same file") {
  const test::TempFolder folder;
  const test::Sample sample;
  write_checkpoint(folder / "a.h5", sample.info, sample.tensors);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 likes to record the second
  write_checkpoint(folder / "b.h5", sample.info, sample.tensors);
  CHECK(test::read_file(folder / "a.h5") == test::read_file(folder / "b.h5"));
  CheckpointReader reader(folder / "a.h5");
  CHECK(test::same_content(reader, sample));
  reader.verify();

  const CheckpointReader::Entry* entry = reader.find("model/layers.0.attention.qkv.weight");
  REQUIRE(entry);
  CHECK(entry->dtype == DType::bf16);
  CHECK(entry->shape == Shape{16, 48});
  CHECK(!reader.has("model/none"));
}

TEST_CASE("reading states what does not fit") {
  const test::TempFolder folder;
  const test::Sample sample;
  write_checkpoint(folder / "a.h5", sample.info, sample.tensors);
  CheckpointReader reader(folder / "a.h5");
  StateTensor into = sample.tensors[2];
  into.name = "model/none";
  CHECK_THROWS_WITH_AS(reader.read(into), doctest::Contains("no tensor model/none"), RuntimeFailure);
  into = sample.tensors[2];
  into.shape = into.slab.shape = into.data.shape = {8};
  CHECK_THROWS_WITH_AS(reader.read(into), doctest::Contains("is f32 [16] there, f32 [8] is needed"),
                       RuntimeFailure);
  into = sample.tensors[2];
  into.data.dtype = DType::i32;
  CHECK_THROWS_WITH_AS(reader.read(into), doctest::Contains("i32 [16] is needed"), RuntimeFailure);
}

// A tensor written as the parts that one grid's ranks hold, and read as those of another.
TEST_CASE("any grid reads what any grid wrote, and the parts' hashes add up to the tensor's") {
  const test::TempFolder folder;
  CHECK(rc::check("resharding", [&] {
    const auto any_grid = [] {
      Grid grid;
      for (size_t a = 0; a < 3; ++a) grid.size[a] = *rc::gen::inRange(1, 4);
      return grid;
    };
    const auto parts = [](const Shape& shape, const ShardRule& rule, const Grid& grid) {
      std::vector<Slab> slabs;
      for (int rank = 0; rank < grid.ranks(); ++rank) {
        const Coordinates c = coordinates_of(grid, rank);
        const Slab block = block_of(shape, rule, grid, c);
        for (const Slab& slab : slabs_of(block, z_range_of(block.shape, rule, grid, c)))
          slabs.push_back(slab);
      }
      return slabs;
    };
    const Shape shape{*rc::gen::inRange(1, 9), *rc::gen::inRange(1, 9), *rc::gen::inRange(1, 4)};
    const ShardRule rule{0, 1, true};
    std::vector<float> values(static_cast<size_t>(shape.numel()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
    const auto value_at = [&](const Slab& slab, int64_t i) {
      const int64_t a = i / (slab.shape[1] * slab.shape[2]), b = i / slab.shape[2] % slab.shape[1];
      return float(((slab.offset[0] + a) * shape[1] + slab.offset[1] + b) * shape[2] + slab.offset[2] +
                   i % slab.shape[2]);
    };

    std::deque<std::vector<float>> memory;
    std::vector<StateTensor> tensors;
    TensorHash sum;
    for (const Slab& slab : parts(shape, rule, any_grid())) {
      std::vector<float>& part = memory.emplace_back(static_cast<size_t>(slab.shape.numel()));
      for (size_t i = 0; i < part.size(); ++i) part[i] = value_at(slab, int64_t(i));
      tensors.push_back({"w", shape, slab, View(part.data(), DType::f32, slab.shape)});
      sum += hash_slab(shape, slab, tensors.back().data);
    }
    RC_ASSERT(sum == hash_slab(shape, whole(shape), View(values.data(), DType::f32, shape)));
    write_checkpoint(folder / "w.h5", {}, tensors);

    CheckpointReader reader(folder / "w.h5");
    RC_ASSERT(reader.find("w")->hash == to_string(sum));
    for (const Slab& slab : parts(shape, rule, any_grid())) {
      std::vector<float> part(static_cast<size_t>(slab.shape.numel()));
      reader.read({"w", shape, slab, View(part.data(), DType::f32, slab.shape)});
      for (size_t i = 0; i < part.size(); ++i) RC_ASSERT(part[i] == value_at(slab, int64_t(i)));
    }
    reader.verify();
  }));
}

TEST_CASE("the tensor hash notices every bit, exchanges and its index") {
  std::vector<uint32_t> values(1000, 5);
  const Shape shape{1000};
  const auto hash = [&] { return hash_slab(shape, whole(shape), View(values.data(), DType::f32, shape)); };
  const TensorHash before = hash();
  for (size_t i : {size_t{0}, size_t{1}, size_t{500}, size_t{999}}) {
    for (int bit = 0; bit < 32; ++bit) {
      values[i] ^= 1u << bit;
      const TensorHash flipped = hash();
      CHECK((flipped.low != before.low && flipped.high != before.high));
      values[i] ^= 1u << bit;
    }
  }
  values[3] = 7;
  const TensorHash first = hash();
  std::swap(values[3], values[4]);
  CHECK(hash() != first);
}

// The Python example of the format's document, run on a real file by another implementation of HDF5's
// interface.
TEST_CASE("h5py reads a checkpoint as the document says") {
  const test::TempFolder folder;
  test::Sample sample;
  for (size_t i = 0; i < 640; ++i) reinterpret_cast<float*>(sample.memory[0].data())[i] = float(i) - 0.5f;
  for (size_t i = 0; i < 768; ++i)
    reinterpret_cast<bf16*>(sample.memory[1].data())[i] = bf16(float(i) * 0.25f);
  write_checkpoint(folder / "a.h5", sample.info, sample.tensors);
  const std::string command = "/usr/bin/python3 " SHOAL_SOURCE_DIR
                              "/tests/checkpoint/check_with_h5py.py " SHOAL_SOURCE_DIR
                              "/docs/CHECKPOINT_FORMAT.md " +
                              (folder / "a.h5");
  CHECK(std::system(command.c_str()) == 0);
}
