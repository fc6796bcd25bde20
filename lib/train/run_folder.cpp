#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/whole_file.h"
#include "comm/hosts.h"

namespace shoal {

namespace fs = std::filesystem;

namespace {

constexpr const char* lock_name = ".lock";

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The files of a spec as given; overrides are in resolved.yaml only.
std::string given_spec(const LoadedSpec& loaded) {
  std::string text;
  for (const std::string& file : loaded.files) {
    if (loaded.files.size() > 1) text += "# " + file + "\n";
    text += read_text(file);
  }
  return text;
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

RunFolder::RunFolder(const std::string& path) : path_(path) {
  claim();
}

RunFolder::RunFolder(const std::string& path, Communicator& world) : path_(path) {
  if (world.rank() == 0) claim();
  int32_t holds_run = holds_run_ ? 1 : 0;
  world.broadcast(View(&holds_run, DType::i32, {1}), 0, "run folder").wait();
  holds_run_ = holds_run != 0;
}

void RunFolder::claim() {
  const std::string& path = path_;
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw UserError(Problem{.what = "cannot create the run folder",
                            .where = "run.dir",
                            .value = path,
                            .allowed = "",
                            .hint = error.message()});
  }
  lock_ = open(file(lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) {
    throw UserError(Problem{.what = "cannot write into the run folder",
                            .where = "run.dir",
                            .value = path,
                            .allowed = "",
                            .hint = std::strerror(errno)});
  }
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    close(lock_);
    throw UserError(Problem{.what = "another process is training in this run folder",
                            .where = "run.dir",
                            .value = path,
                            .allowed = "",
                            .hint = "wait for it, stop it, or give this run another run.dir"});
  }
  holds_run_ = fs::exists(file("resolved.yaml"));
  if (holds_run_) return;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (name == lock_name || name == "spec.yaml" || name == "env.json" || name.ends_with(".part")) continue;
    close(lock_);
    throw UserError(Problem{.what = "the run folder is not empty, and holds no run",
                            .where = "run.dir",
                            .value = path,
                            .allowed = "an empty or a new folder, or one to resume",
                            .hint = fmt::format("it holds {}, which a run would be mixed with", name)});
  }
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) close(lock_);
}

void RunFolder::describe_run(const LoadedSpec& loaded, const std::string& environment) {
  holds_run_ = true;
  if (lock_ < 0) return;
  write_whole_file(file("env.json"), environment);
  write_whole_file(file("spec.yaml"), given_spec(loaded));
  write_whole_file(file("resolved.yaml"), to_yaml(loaded, true));
}

std::string run_folder_path(const RunSpec& spec) {
  return spec.run.dir.empty() ? "runs/" + spec.run.name : spec.run.dir;
}

std::string environment_json(const std::string& build_report, int threads, int ranks) {
  utsname system{};
  uname(&system);
  char time[32];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%SZ", &utc);
  const nlohmann::ordered_json json{
      {"started", time},
      {"hosts", {host_name()}},
      {"ranks", ranks},
      {"threads", threads},
      {"processor", processor_name()},
      {"cores", std::thread::hardware_concurrency()},
      {"system", std::string(system.sysname) + " " + system.release + " " + system.machine},
      {"build", build_report},
  };
  return json.dump(2) + "\n";
}

}  // namespace shoal
