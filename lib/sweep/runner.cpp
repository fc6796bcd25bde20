#include "sweep/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "model/estimate.h"
#include "sweep/run_state.h"

extern char** environ;

namespace shoal {
namespace {

int cores_here() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

double memory_of(const SweepRun& run) {
  const RunSpec& spec = run.loaded.spec;
  return estimate_memory(spec, estimated_model(spec)).total() + 150e6;  // and the program itself
}

class Runner {
 public:
  Runner(const Sweep& sweep, const RunnerOptions& options) : sweep_(sweep), options_(options) {
    const int64_t asked = sweep.runs.empty() ? 0 : sweep.runs.front().loaded.spec.run.threads;
    const int cores = cores_here();
    jobs_ = options.jobs > 0 ? options.jobs : std::max(1, asked > 0 ? cores / int(asked) : 1);
    threads_ = std::max(1, cores / jobs_);
    memory_ = options.memory > 0 ? options.memory
                                 : 0.9 * double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
    std::filesystem::create_directories(sweep.dir + "/notes");
  }

  SweepOutcome run() {
    std::vector<int> left = order();
    bool stopping = false;
    while (!running_.empty() || (!left.empty() && !stopping)) {
      if (!stopping && options_.stop && options_.stop()) {
        stopping = true;
        for (const auto& [pid, number] : running_) kill(pid, SIGTERM);
      }
      if (!stopping) start_what_fits(left);
      if (running_.empty() && !stopping) break;  // the rest waits for checkpoints that will not come
      reap();
    }
    SweepOutcome outcome;
    for (const SweepRun& run : sweep_.runs) {
      switch (state_of(sweep_, run).phase) {
        case RunPhase::done:
          ++outcome.done;
          break;
        case RunPhase::failed:
          ++outcome.failed;
          break;
        case RunPhase::stopped:
          ++outcome.stopped;
          break;
        case RunPhase::waiting:
          ++outcome.blocked;
          break;
      }
    }
    return outcome;
  }

 private:
  // What is to do, the longest first; the runs that others branch off from before all of those.
  std::vector<int> order() const {
    std::vector<int> left;
    for (size_t i = 0; i < sweep_.runs.size(); ++i) {
      const RunPhase phase = state_of(sweep_, sweep_.runs[i]).phase;
      if (phase == RunPhase::done || (phase == RunPhase::failed && !options_.retry)) continue;
      left.push_back(int(i));
    }
    std::stable_sort(left.begin(), left.end(), [&](int a, int b) {
      const SweepRun &first = sweep_.runs[size_t(a)], &second = sweep_.runs[size_t(b)];
      if ((first.parent < 0) != (second.parent < 0)) return first.parent < 0;
      return work_of(first) > work_of(second);
    });
    return left;
  }

  void start_what_fits(std::vector<int>& left) {
    for (size_t i = 0; i < left.size() && int(running_.size()) < jobs_;) {
      const SweepRun& run = sweep_.runs[size_t(left[i])];
      // One that is too large for the machine by itself is tried alone.
      const bool fits = running_.empty() || memory_in_use_ + memory_of(run) <= memory_;
      if (!fits || !can_start(run)) {
        ++i;
        continue;
      }
      start(left[i]);
      left.erase(left.begin() + std::ptrdiff_t(i));
    }
  }

  void start(int number) {
    const SweepRun& run = sweep_.runs[size_t(number)];
    std::vector<std::string> words{options_.program, "train", write_spec(sweep_, run)};
    if (run.loaded.spec.run.threads == 0) words.push_back(fmt::format("run.threads={}", threads_));
    words.push_back("log.progress=lines");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    const std::string log = log_path(sweep_, run);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, options_.program.c_str(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) runtime_failure("{}: cannot be started: {}", options_.program, std::strerror(error));
    running_[pid] = number;
    memory_in_use_ += memory_of(run);
    say(fmt::format("started  {}", run.name));
  }

  void reap() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    const auto found = running_.find(pid);
    if (found == running_.end()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return;
    }
    const SweepRun& run = sweep_.runs[size_t(found->second)];
    running_.erase(found);
    memory_in_use_ -= memory_of(run);
    note_exit(sweep_, run, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    const RunState state = state_of(sweep_, run);
    say(state.phase == RunPhase::done      ? fmt::format("done     {}", run.name)
        : state.phase == RunPhase::stopped ? fmt::format("stopped  {}", run.name)
                                           : fmt::format("failed   {}: {}", run.name, state.reason));
  }

  void say(const std::string& text) const {
    if (options_.say) options_.say(text);
  }

  const Sweep& sweep_;
  const RunnerOptions& options_;
  int jobs_ = 1, threads_ = 1;
  double memory_ = 0, memory_in_use_ = 0;
  std::map<pid_t, int> running_;
};

}  // namespace

double work_of(const SweepRun& run) {
  const RunSpec& spec = run.loaded.spec;
  const ModelConfig model = estimated_model(spec);
  const double tokens = double(spec.run.steps * spec.batch.global * spec.data.seq_length);
  return tokens * model.train_flops_per_token(spec.data.seq_length) / 10e9;
}

SweepOutcome run_sweep(const Sweep& sweep, const RunnerOptions& options) {
  return Runner(sweep, options).run();
}

}  // namespace shoal
