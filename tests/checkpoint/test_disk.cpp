// Disks that are full, read-only, or fail while a checkpoint is written: a clear error, no file, the older
// ones as they were, nothing held open, and the next save works once there is room.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "sample.h"
#include "temp_folder.h"

using namespace shoal;
namespace fs = std::filesystem;

namespace {

// A file system in memory of a given size. Mounted in a mount namespace of this process's own, so that it
// vanishes with the process whatever happens.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder, int kilobytes) : folder_(folder) {
    mounted_ = ::unshare(CLONE_NEWNS) == 0 &&
               ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("tmpfs", folder.c_str(), "tmpfs", 0, fmt::format("size={}k", kilobytes).c_str()) == 0;
    if (!mounted_) MESSAGE("skipped: mounting is not permitted here: ", std::strerror(errno));
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  void read_only(bool on) {
    REQUIRE(::mount("none", folder_.c_str(), nullptr, MS_REMOUNT | (on ? MS_RDONLY : 0), nullptr) == 0);
  }

 private:
  std::string folder_;
  bool mounted_ = false;
};

std::string failure_of(const std::string& path, const test::Sample& sample) {
  try {
    write_checkpoint(path, sample.info, sample.tensors);
    return "";
  } catch (const RuntimeFailure& e) {
    return e.what();
  }
}

size_t open_files() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a full disk: a clear error, the older checkpoint intact, and it works again with room") {
  const test::TempFolder folder;
  SmallDisk disk(folder.path(), 400);
  if (!disk.mounted()) return;
  const test::Sample sample;
  const std::string path = folder / "a.h5";
  write_checkpoint(path, sample.info, sample.tensors);
  const std::string good = test::read_file(path);
  const size_t open_before = open_files();

  // Fill the disk to every degree: the failure then comes while space is claimed, or later.
  test::Sample other;
  other.info.step = 8;
  other.add("model/big", DType::f32, {100, 100});
  int failures = 0, successes = 0;
  for (int left = 0; left < 160; left += 4) {
    test::write_file(folder / "filler", std::string(1 << 20, 'x'));  // takes what there is
    const auto filled = int64_t(fs::file_size(folder / "filler"));
    fs::resize_file(folder / "filler", size_t(std::max<int64_t>(0, filled - left * 1024)));
    const std::string failure = failure_of(folder / "b.h5", other);
    if (!failure.empty()) {
      CHECK(contains(failure, "No space left on device"));
      CHECK(contains(failure, "b.h5"));
      CHECK(files_in(folder.path()).size() == 2);
      CHECK(contains(failure_of(path, other), "No space left"));
      ++failures;
    } else {
      ++successes;
      fs::remove(folder / "b.h5");
    }
    CHECK(test::read_file(path) == good);
    CHECK(open_files() == open_before);
  }
  CHECK(failures > 10);
  CHECK(successes > 10);
  fs::remove(folder / "filler");
  CHECK(failure_of(folder / "b.h5", other) == "");
  CheckpointReader reader(folder / "b.h5");
  CHECK(test::same_content(reader, other));
}

TEST_CASE("a read-only file system: a clear error, and reading works") {
  const test::TempFolder folder;
  SmallDisk disk(folder.path(), 400);
  if (!disk.mounted()) return;
  const test::Sample sample;
  write_checkpoint(folder / "a.h5", sample.info, sample.tensors);
  disk.read_only(true);
  CHECK(contains(failure_of(folder / "b.h5", sample), "Read-only file system"));
  CHECK(contains(failure_of(folder / "a.h5", sample), "Read-only file system"));
  {
    CheckpointReader reader(folder / "a.h5");
    CHECK(test::same_content(reader, sample));
  }
  disk.read_only(false);
  CHECK(failure_of(folder / "b.h5", sample) == "");
}

TEST_CASE("a folder that is missing or must not be written to") {
  const test::TempFolder folder;
  const test::Sample sample;
  CHECK(contains(failure_of(folder / "none/a.h5", sample), "No such file or directory"));
  fs::create_directory(folder / "a.h5");
  CHECK(failure_of(folder / "a.h5", sample) != "");
  CHECK(files_in(folder.path()).size() == 1);
  if (::geteuid() == 0) return;  // permissions do not bind root; the read-only file system above does
  fs::create_directory(folder / "closed");
  ::chmod((folder / "closed").c_str(), 0555);
  CHECK(contains(failure_of(folder / "closed/a.h5", sample), "Permission denied"));
}

// A limit on the size of files makes the write that crosses it fail, whichever of HDF5's writes that is.
TEST_CASE("a write that fails at any place of the file leaves nothing behind") {
  const test::TempFolder folder;
  const test::Sample sample;
  const std::string path = folder / "a.h5";
  write_checkpoint(path, sample.info, sample.tensors);
  const std::string good = test::read_file(path);
  const size_t open_before = open_files();
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (size_t limit = 0; limit < good.size(); limit += 509) {
    const rlimit small{limit, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string failure = failure_of(path, sample);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(contains(failure, "File too large"));
    CHECK(files_in(folder.path()).size() == 1);
    CHECK(test::read_file(path) == good);
    CHECK(open_files() == open_before);
  }
  std::signal(SIGXFSZ, handler);
  CHECK(failure_of(path, sample) == "");
  CHECK(test::read_file(path) == good);
}
