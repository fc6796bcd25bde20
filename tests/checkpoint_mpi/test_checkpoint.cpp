// Checkpoints from grids: the file is the same whatever grid wrote it, and any grid reads it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/error.h"
#include "base/philox.h"
#include "checkpoint/publish.h"
#include "checkpoint/saver.h"
#include "checkpoint/seal.h"
#include "checkpoint/store.h"
#include "mpi/grid_model.h"
#include "mpi/main.h"
#include "temp_folder.h"

using namespace shoal;
namespace fs = std::filesystem;

namespace {

struct TestTensor {
  std::string name;
  DType dtype;
  Shape shape;
  ShardRule rule;
  bool over_data;
};

// Sizes that divide evenly by nothing; tensors with fewer elements than ranks, or none.
const std::vector<TestTensor> test_tensors = {
    {"model/embed", DType::f32, {23, 7}, {0, 1, true}, false},
    {"model/qkv", DType::f32, {13, 11}, {0, 1, true}, true},
    {"model/down", DType::bf16, {9, 17}, {1, 0, true}, false},
    {"model/bias", DType::f32, {13}, {0, -1, false}, false},
    {"model/norm", DType::f32, {7}, {-1, 0, false}, true},
    {"model/scale", DType::f32, {5}, {-1, -1, false}, false},
    {"model/experts", DType::f32, {3, 5, 7}, {1, 2, true}, true},
    {"optimizer/left", DType::f64, {3, 4, 4}, {-1, -1, true}, true},
    {"optimizer/tiny", DType::f32, {1, 2}, {0, 1, true}, true},
    {"optimizer/none", DType::i32, {0, 3}, {0, 1, true}, false},
    {"optimizer/step", DType::i64, {}, {-1, -1, false}, false},
    {"optimizer/large", DType::f32, {301, 1003}, {1, 0, true}, true},
};

// The first ranks of the test's world; null on those that are not among them.
std::unique_ptr<Communicator> first_ranks(int count) {
  const int rank = mpi_session().rank();
  auto group = make_mpi_communicator(mpi_session(), rank < count ? 0 : 1, rank, "world", {});
  return rank < count ? std::move(group) : nullptr;
}

// One rank's pieces of the tensors, as parameters of a model hold them.
class Pieces {
 public:
  Pieces(const Grid& grid, int rank) {
    const Coordinates c = coordinates_of(grid, rank);
    for (const TestTensor& t : test_tensors) {
      const Slab slab = block_of(t.shape, t.rule, grid, c);
      Range part = z_range_of(slab.shape, t.rule, grid, c);
      if (t.over_data) {
        const Range own = padded_part_of(part.count, grid[Axis::data], c[Axis::data]);
        part = {part.begin + own.begin, own.count};
      }
      memory_.emplace_back(static_cast<size_t>(part.count * size_of(t.dtype)));
      tensors.push_back({t.name, t.shape, slab, View(memory_.back().data(), t.dtype, Shape{part.count}), part,
                         replica_of(t.rule, t.over_data, grid, c)});
    }
  }

  // Element i of a tensor has bits that depend on (seed, name, i) alone.
  void fill(int64_t seed) {
    each([&](const StateTensor& tensor, int64_t global, std::byte* element) {
      const uint64_t bits = Philox(uint64_t(seed), tensor.name).bits(uint64_t(global));
      std::memcpy(element, &bits, size_t(size_of(tensor.data.dtype)));
    });
  }
  void clear() {
    for (auto& bytes : memory_) std::fill(bytes.begin(), bytes.end(), std::byte{0xA5});
  }
  bool equal(const Pieces& other) const { return memory_ == other.memory_; }

  std::vector<StateTensor> tensors;

 private:
  template <typename Function>
  void each(const Function& function) {
    for (const StateTensor& tensor : tensors) {
      const int64_t width = size_of(tensor.data.dtype);
      for (int64_t k = 0; k < tensor.range().count; ++k) {
        int64_t left = tensor.range().begin + k, global = 0, stride = 1;
        for (int d = tensor.shape.rank(); d-- > 0;) {
          global += stride * (tensor.slab.offset[d] + left % tensor.slab.shape[d]);
          left /= tensor.slab.shape[d];
          stride *= tensor.shape[d];
        }
        function(tensor, global, static_cast<std::byte*>(tensor.data.data) + k * width);
      }
    }
  }

  std::deque<std::vector<std::byte>> memory_;
};

const CheckpointInfo info{7, 224, "version: 1\n", {{"random", "{\"seed\": 1}"}, {"empty", ""}}};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A folder that all ranks see.
class SharedFolder {
 public:
  SharedFolder() : world_(first_ranks(mpi_session().size())), path_(4096, '\0') {
    if (world_->rank() == 0) {
      own_ = std::make_unique<test::TempFolder>();
      own_->path().copy(path_.data(), path_.size());
    }
    world_->broadcast(View(path_.data(), DType::u8, Shape{4096}), 0, "test").wait();
    path_.resize(path_.find('\0'));
  }
  ~SharedFolder() { world_->barrier("test"); }  // then rank 0 removes it
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  Communicator& world() { return *world_; }

 private:
  std::unique_ptr<test::TempFolder> own_;
  std::unique_ptr<Communicator> world_;
  std::string path_;
};

std::vector<Grid> grids_to_test(int ranks) {
  if (ranks < 8) return all_grids(ranks);
  return {{{2, 2, 2, 1}}, {{1, 2, 2, 2}}, {{2, 1, 1, 4}}, {{8, 1, 1, 1}}, {{1, 8, 1, 1}}, {{1, 1, 8, 1}}};
}

void save_on(const Grid& grid, const std::string& path, int64_t seed) {
  const auto world = first_ranks(grid.ranks());
  if (!world) return;
  Pieces pieces(grid, world->rank());
  pieces.fill(seed);
  write_checkpoint(*world, path, info, pieces.tensors);
}

// Whether a grid gets every bit back.
void load_on(const Grid& grid, const std::string& path, int64_t seed) {
  const auto world = first_ranks(grid.ranks());
  if (!world) return;
  Pieces wanted(grid, world->rank()), found(grid, world->rank());
  wanted.fill(seed);
  found.clear();
  CheckpointReader reader(path, *world);
  reader.read(found.tensors);
  reader.verify();
  CHECK(found.equal(wanted));
  CHECK(reader.info().strings == info.strings);
}

}  // namespace

TEST_CASE("every grid writes the same bytes, and reads what another one wrote") {
  SharedFolder folder;
  const Grid alone;
  save_on(alone, folder / "alone.h5", 1);
  folder.world().barrier("test");
  const std::string wanted = bytes_of(folder / "alone.h5");
  for (const Grid& grid : grids_to_test(folder.world().size())) {
    for (int axis = 0; axis < num_axes; ++axis) CAPTURE(grid.size[size_t(axis)]);
    load_on(grid, folder / "alone.h5", 1);
    save_on(grid, folder / "grid.h5", 1);
    folder.world().barrier("test");
    CHECK(bytes_of(folder / "grid.h5") == wanted);
    folder.world().barrier("test");
  }
}

TEST_CASE("saved on 8 ranks, resumed on 3, on 1, on 6, and back on 8") {
  if (mpi_session().size() < 8) return;
  SharedFolder folder;
  const Grid eight{{2, 2, 2, 1}}, three{{1, 1, 3, 1}}, one, six{{1, 2, 3, 1}};
  save_on(eight, folder / "0.h5", 1);
  folder.world().barrier("test");
  const Grid path[] = {three, one, six, eight};
  for (int i = 0; i < 4; ++i) {
    load_on(path[i], folder / fmt::format("{}.h5", i), i + 1);
    save_on(path[i], folder / fmt::format("{}.h5", i + 1), i + 2);
    folder.world().barrier("test");
  }
  load_on(eight, folder / "4.h5", 5);
}

TEST_CASE("damage is found by every rank of a grid, and named") {
  SharedFolder folder;
  const std::string path = folder / "a.h5";
  for (const Grid& grid : grids_to_test(folder.world().size())) {
    save_on(grid, path, 1);
    folder.world().barrier("test");
    const std::string good = bytes_of(path);
    const auto world = first_ranks(grid.ranks());
    const Philox random(3, "damage");
    for (uint64_t i = 0; i < 12 && world; ++i) {
      const size_t at = size_t(random.bits(i)) % good.size();
      world->barrier("test");
      if (world->rank() == 0) {
        const char bad = char(good[at] ^ (1 << (i & 7u)));
        File(path, O_RDWR).write_at(&bad, 1, int64_t(at));
      }
      world->barrier("test");
      CHECK_THROWS_AS(CheckpointReader(path, *world), DamagedCheckpoint);
      world->barrier("test");
      if (world->rank() == 0) File(path, O_RDWR).write_at(&good[at], 1, int64_t(at));
    }
    folder.world().barrier("test");
    // Behind a good seal: what a fault between the writer's memory and the seal would leave.
    if (folder.world().rank() == 0) {
      Pieces whole(Grid{}, 0);
      whole.fill(1);
      const View tensor = whole.tensors[0].data;
      const size_t at = good.find(std::string(static_cast<char*>(tensor.data), size_t(tensor.bytes())));
      REQUIRE(at != std::string::npos);
      const char bad = char(good[at + 301] ^ 4);
      const File file(path, O_RDWR);
      file.write_at(&bad, 1, int64_t(at) + 301);
      write_seal(file, {info.step, info.consumed_samples, file.size(), hash_content(file, file.size(), 1)});
    }
    folder.world().barrier("test");
    if (world) {
      CheckpointReader reader(path, *world);
      Pieces pieces(grid, world->rank());
      CHECK_THROWS_WITH_AS(reader.read(pieces.tensors),
                           doctest::Contains("model/embed does not match its hash"), DamagedCheckpoint);
      CHECK_THROWS_AS(reader.verify(), DamagedCheckpoint);
    }
    folder.world().barrier("test");
  }
}

TEST_CASE("a rank that cannot write: all ranks know, and the checkpoint before it stays") {
  SharedFolder folder;
  Communicator& world = folder.world();
  const int ranks = world.size();
  const Grid grid{{1, 1, ranks, 1}};
  const std::string path = folder / "a.h5";
  save_on(grid, path, 1);
  world.barrier("test");
  const std::string good = bytes_of(path);
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (int failing = 0; failing < ranks; ++failing) {
    if (world.rank() == failing) {
      const rlimit small{60000, before.rlim_max};
      REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    }
    std::string message;
    try {
      save_on(grid, path, 2);
    } catch (const RuntimeFailure& e) {
      message = e.what();
    }
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(message.find("File too large") != std::string::npos);
    if (ranks > 1) CHECK(message.find(fmt::format("rank {}: ", failing)) == 0);
    world.barrier("test");
    CHECK(bytes_of(path) == good);
    CHECK(!fs::exists(path + ".part"));
    world.barrier("test");
  }
  std::signal(SIGXFSZ, handler);
  CHECK_THROWS_WITH_AS(save_on(grid, folder / "none/a.h5", 1), doctest::Contains("No such file"),
                       RuntimeFailure);
  save_on(grid, path, 2);
  world.barrier("test");
  load_on(grid, path, 2);
}

TEST_CASE("ranks that list other tensors are told so") {
  SharedFolder folder;
  Communicator& world = folder.world();
  if (world.size() == 1) return;
  Pieces pieces(Grid{{1, 1, world.size(), 1}}, world.rank());
  pieces.fill(1);
  if (world.rank() == 1) pieces.tensors.pop_back();
  CHECK_THROWS_WITH_AS(write_checkpoint(world, folder / "a.h5", info, pieces.tensors),
                       doctest::Contains("rank 1: the tensors to be saved here are not those of rank 0"),
                       RuntimeFailure);
  CHECK(!fs::exists(folder / "a.h5"));
}

TEST_CASE("saves in the background of a grid, retention, damaged newest") {
  SharedFolder folder;
  Communicator& world = folder.world();
  const Report never = [](const std::string& line) { FAIL(line); };
  const Grid grid{{1, 1, 1, world.size()}};
  const auto device = make_device("cpu");
  const CheckpointStore store(folder / "ckpt", {.keep_last = 2}, world);
  store.prepare();
  CHECK(!store.open_newest(never, true));
  {
    CheckpointSaver saver(store, never);
    Pieces pieces(grid, world.rank());
    for (int64_t step = 1; step <= 4; ++step) {
      pieces.fill(step);
      saver.save({step, step, "", {}}, pieces.tensors, *device);
      pieces.clear();  // training goes on
      if (step % 2 == 0) saver.wait();
      for (int i = 0; i < 3; ++i) saver.poll();
    }
    pieces.fill(5);
    saver.save_now({5, 5, "", {}}, pieces.tensors);
    CHECK(store.list().size() == 2);
    // On a grid one that is given up leaves the others alone.
    if (world.size() > 1) saver.save({6, 6, "", {}}, pieces.tensors, *device);
  }
  world.barrier("test");
  CHECK(!fs::exists(store.path_of(6)));
  CHECK(!fs::exists(store.path_of(6) + ".part"));
  Pieces found(grid, world.rank()), wanted(grid, world.rank());
  for (int64_t step : {5, 4}) {
    std::vector<std::string> lines;
    auto reader = store.open_newest([&](const std::string& line) { lines.push_back(line); }, true);
    REQUIRE(reader);
    CHECK(reader->info().step == step);
    CHECK(lines.size() == (step == 4 && world.rank() == 0 ? 2 : 0));
    found.clear();
    reader->read(found.tensors);
    wanted.fill(step);
    CHECK(found.equal(wanted));
    world.barrier("test");
    if (world.rank() == 0) fs::resize_file(store.path_of(step), 100000);
    world.barrier("test");
  }
  CHECK_THROWS_AS(store.open_newest([](const std::string&) {}, true), RuntimeFailure);
}

TEST_CASE("a failure in the background comes to all ranks at the same poll, once") {
  SharedFolder folder;
  Communicator& world = folder.world();
  const Grid grid{{1, 1, world.size(), 1}};
  const auto device = make_device("cpu");
  const CheckpointStore store(folder.path(), {}, world);
  CheckpointSaver saver(store, [](const std::string& line) { FAIL(line); });
  Pieces pieces(grid, world.rank());
  pieces.fill(1);
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  if (world.rank() == world.size() - 1) {
    const rlimit small{60000, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  }
  saver.save(info, pieces.tensors, *device);
  int64_t thrown_at = -1;
  for (int64_t i = 0; thrown_at < 0; ++i) {
    try {
      saver.poll();
    } catch (const RuntimeFailure&) {
      thrown_at = i;
    }
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  int64_t latest = thrown_at;
  world.all_reduce(View(&latest, DType::i64, Shape{1}), Reduce::max, "test").wait();
  CHECK(latest == thrown_at);
  saver.poll();
  saver.save(info, pieces.tensors, *device);
  saver.wait();
  load_on(grid, store.path_of(info.step), 1);
}
