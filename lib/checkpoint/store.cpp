#include "checkpoint/store.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "checkpoint/agree.h"
#include "checkpoint/publish.h"
#include "checkpoint/seal.h"

namespace shoal {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "step_", suffix = ".h5", damaged_suffix = ".damaged";

std::string name_of_step(int64_t step) {
  return fmt::format("{}{:06}{}", prefix, step, suffix);
}

// The step of a checkpoint's file name, if it is one.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  int64_t step = 0;
  std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  return step >= 0 && name_of_step(step) == name ? std::optional(step) : std::nullopt;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) io_failure("list", folder, error.value());
  return names;
}

}  // namespace

bool in_pythia_schedule(int64_t step) {
  const bool power_of_two = (step & (step - 1)) == 0;  // 0 as well
  return (power_of_two && step <= 512) || step % 1000 == 0;
}

CheckpointStore::CheckpointStore(std::string folder, const Retention& retention)
    : folder_(std::move(folder)), retention_(retention), world_(make_self_communicator()) {}

CheckpointStore::CheckpointStore(std::string folder, const Retention& retention, Communicator& world)
    : folder_(std::move(folder)), retention_(retention), world_(std::shared_ptr<Communicator>(), &world) {}

std::string CheckpointStore::path_of(int64_t step) const {
  return folder_ + "/" + name_of_step(step);
}

std::vector<StoredCheckpoint> CheckpointStore::list() const {
  std::vector<StoredCheckpoint> all;
  for (const std::string& name : names_in(folder_)) {
    const std::optional<int64_t> step = step_of(name);
    if (!step) continue;
    StoredCheckpoint found;
    found.step = *step;
    found.path = path_of(*step);
    struct stat status;
    if (::stat(found.path.c_str(), &status) != 0) continue;  // removed just now
    found.bytes = status.st_size;
    found.modified = status.st_mtime;
    try {
      const Seal seal = read_seal(found.path);
      found.consumed_samples = seal.consumed_samples;
      if (seal.step != found.step) found.problem = fmt::format("it holds step {}", seal.step);
    } catch (const Error& e) {
      found.problem = e.what();
    }
    all.push_back(std::move(found));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return all;
}

std::string CheckpointStore::kept_by(int64_t step, const std::vector<StoredCheckpoint>& all) const {
  if (retention_.pythia && in_pythia_schedule(step)) return "pythia";
  if (retention_.keep_every > 0 && step % retention_.keep_every == 0) {
    return fmt::format("every {}", retention_.keep_every);
  }
  if (retention_.keep_last == 0) return "all";
  const auto newer = std::count_if(all.begin(), all.end(), [&](const StoredCheckpoint& other) {
    return other.step > step && other.problem.empty();
  });
  return newer < retention_.keep_last ? fmt::format("last {}", retention_.keep_last) : "";
}

void CheckpointStore::prepare() const {
  together(*world_, [&] {
    if (world_->rank() != 0) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) io_failure("create the folder", folder_, error.value());
    for (const std::string& name : names_in(folder_)) {
      if (!name.ends_with(pending_suffix)) continue;
      fs::remove(folder_ + "/" + name, error);
      if (error) io_failure("remove", folder_ + "/" + name, error.value());
    }
  });
}

// The first rank's view of the folder is everybody's.
std::vector<int64_t> CheckpointStore::newest_first() const {
  std::vector<int64_t> steps;
  together(*world_, [&] {
    if (world_->rank() != 0) return;
    for (const std::string& name : names_in(folder_)) {
      if (const auto step = step_of(name)) steps.push_back(*step);
    }
  });
  std::sort(steps.rbegin(), steps.rend());
  std::vector<int64_t> count{static_cast<int64_t>(steps.size())};
  broadcast_from_first(*world_, count);
  steps.resize(static_cast<size_t>(count[0]));
  broadcast_from_first(*world_, steps);
  return steps;
}

std::optional<CheckpointReader> CheckpointStore::open_newest(const Report& report, bool set_aside) const {
  const bool first = world_->rank() == 0;
  const auto tell = [&](const std::string& line) {
    if (first) report(line);
  };
  const std::vector<int64_t> steps = newest_first();
  std::vector<std::string> damaged;
  for (int64_t step : steps) {
    try {
      CheckpointReader reader(path_of(step), world_);
      if (reader.info().step != step)
        throw DamagedCheckpoint(path_of(step), "its name and its content disagree");
      for (const std::string& path : damaged) {
        std::error_code error;
        if (set_aside && first) fs::rename(path, path + std::string(damaged_suffix), error);
        if (error) tell(fmt::format("cannot rename {}: {}", path, error.message()));
      }
      if (step != steps.front()) tell(fmt::format("using the checkpoint before it: {}", path_of(step)));
      return reader;
    } catch (const DamagedCheckpoint& failure) {
      tell(failure.what());
      damaged.push_back(path_of(step));
    } catch (const RuntimeFailure& failure) {  // unreadable at the moment: no reason to set it aside
      tell(failure.what());
    }
  }
  if (!steps.empty()) {
    throw RuntimeFailure(
        Problem{.what = fmt::format("none of its {} checkpoints can be read", steps.size()),
                .where = folder_,
                .hint = "restore one from a copy, or start afresh in another folder (run.dir)"});
  }
  return std::nullopt;
}

void CheckpointStore::prune(int64_t saved_step, const Report& report) const {
  std::vector<StoredCheckpoint> all = list();
  std::erase_if(all, [&](const StoredCheckpoint& c) { return c.step > saved_step || !c.problem.empty(); });
  if (all.empty() || all.back().step != saved_step) return;  // not safe on disk after all
  for (const StoredCheckpoint& checkpoint : all) {
    if (checkpoint.step == saved_step || !kept_by(checkpoint.step, all).empty()) continue;
    std::error_code error;
    fs::remove(checkpoint.path, error);
    if (error) report(fmt::format("cannot remove {}: {}", checkpoint.path, error.message()));
  }
}

std::string checkpoint_folder_of(const std::string& path) {
  return fs::is_directory(path + "/ckpt") ? path + "/ckpt" : path;
}

CheckpointReader open_checkpoint(const std::string& path, const Report& report) {
  if (fs::exists(path) && !fs::is_directory(path)) return CheckpointReader(path);
  if (auto newest = CheckpointStore(checkpoint_folder_of(path), {}).open_newest(report, false)) {
    return std::move(*newest);
  }
  throw UserError(Problem{.what = "there is no checkpoint",
                          .where = path,
                          .allowed = "a checkpoint file, or the folder of a run that has one"});
}

}  // namespace shoal
