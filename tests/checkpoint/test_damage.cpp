// Every way in which a checkpoint's bytes can be wrong must give an error that names the file, never a crash
// and never another content.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <filesystem>

#include "base/error.h"
#include "base/philox.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/seal.h"
#include "sample.h"
#include "temp_folder.h"

using namespace shoal;

namespace {

// Opens and reads everything; true if it was refused. Damage that passes must have left the content as it
// was.
bool refused(const std::string& path, const test::Sample& sample) {
  try {
    CheckpointReader reader(path);
    REQUIRE(test::same_content(reader, sample));
    return false;
  } catch (const RuntimeFailure& e) {
    REQUIRE(std::string(e.what()).find(path) != std::string::npos);
    return true;
  }
}

}  // namespace

TEST_CASE("a flipped bit in any byte of the file is found") {
  const test::TempFolder folder;
  const test::Sample sample;
  const std::string path = folder / "a.h5";
  write_checkpoint(path, sample.info, sample.tensors);
  REQUIRE(!refused(path, sample));
  const std::string good = test::read_file(path);
  const Philox random(3, "bits");
  const File file(path, O_RDWR);
  int64_t unnoticed = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    const char bad = char(good[i] ^ (1 << (random.bits(i) & 7u)));
    file.write_at(&bad, 1, int64_t(i));
    unnoticed += !refused(path, sample);
    file.write_at(&good[i], 1, int64_t(i));
  }
  CHECK(unnoticed == 0);
  CHECK(!refused(path, sample));
}

TEST_CASE("a file cut short anywhere, or with a tail, is refused") {
  const test::TempFolder folder;
  const test::Sample sample;
  const std::string path = folder / "a.h5";
  write_checkpoint(path, sample.info, sample.tensors);
  const std::string good = test::read_file(path);
  int64_t unnoticed = 0;
  for (size_t n = good.size(); n-- > 0;) {
    std::filesystem::resize_file(path, n);
    unnoticed += !refused(path, sample);
  }
  CHECK(unnoticed == 0);
  test::write_file(path, good + "x");
  CHECK(refused(path, sample));
  for (const std::string& other :
       {std::string(), std::string("hello"), std::string(1 << 16, '\0'), good.substr(4096),
        good.substr(0, 4096) + std::string(good.size() - 4096, '\0')}) {
    test::write_file(path, other);
    CHECK(refused(path, sample));
  }
}

TEST_CASE("the reason is stated") {
  const test::TempFolder folder;
  const test::Sample sample;
  const std::string path = folder / "a.h5";
  const auto says = [&](const std::string& bytes, const char* reason) {
    test::write_file(path, bytes);
    CHECK_THROWS_WITH_AS(CheckpointReader{path}, doctest::Contains(reason), DamagedCheckpoint);
  };
  write_checkpoint(path, sample.info, sample.tensors);
  const std::string good = test::read_file(path);
  says(good.substr(0, 100), "only 100 bytes");
  says(good.substr(0, good.size() - 1), "were written");
  std::string bad = good;
  bad[good.size() / 2] = char(bad[good.size() / 2] ^ 1);
  says(bad, "content does not match");
  bad = good;
  bad[30] = char(bad[30] ^ 1);
  says(bad, "seal");
  bad = good;
  bad[0] = 'X';
  says(bad, "not a shoal checkpoint");
  bad = good;
  bad[17] = '9';  // a damaged version is not a newer one
  says(bad, "seal");
  std::string newer = "shoal checkpoint 99\nother lines\n";
  const XXH128_hash_t hash = XXH3_128bits(newer.data(), newer.size());
  newer += fmt::format("seal {:016x}{:016x}\n", hash.high64, hash.low64);
  test::write_file(path, newer + good.substr(newer.size()));
  CHECK_THROWS_WITH_AS(CheckpointReader{path}, doctest::Contains("format 99 is newer"), UserError);
  std::filesystem::remove(path);
  CHECK_THROWS_WITH_AS(CheckpointReader{path}, doctest::Contains("No such file"), RuntimeFailure);
  CHECK_THROWS_AS(CheckpointReader{folder.path()}, RuntimeFailure);
}

// What a fault between the writer's memory and the seal would leave: the file's own hash agrees, the tensor's
// does not.
TEST_CASE("a tensor that differs from its hash is found behind a good seal") {
  const test::TempFolder folder;
  test::Sample sample;
  const std::string path = folder / "a.h5";
  write_checkpoint(path, sample.info, sample.tensors);
  std::string bytes = test::read_file(path);
  const StateTensor& tensor = sample.tensors[0];
  const size_t at =
      bytes.find(std::string(static_cast<char*>(tensor.data.data), size_t(tensor.data.bytes())));
  REQUIRE(at != std::string::npos);
  bytes[at + 11] = char(bytes[at + 11] ^ 4);
  test::write_file(path, bytes);
  {
    const File file(path, O_RDWR);
    Seal seal{sample.info.step, sample.info.consumed_samples, file.size(), {}};
    seal.content = hash_content(file, seal.bytes, 2);
    write_seal(file, seal);
  }
  CheckpointReader reader(path);
  CHECK_THROWS_WITH_AS(reader.verify(), doctest::Contains("model/embed.weight does not match its hash"),
                       RuntimeFailure);
}
