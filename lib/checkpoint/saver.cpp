#include "checkpoint/saver.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/error.h"
#include "checkpoint/agree.h"
#include "checkpoint/collective_write.h"
#include "checkpoint/pieces.h"

namespace shoal {
namespace {

constexpr size_t alignment = 64, huge_page = size_t{2} << 20;

size_t rounded(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void lower_priority() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
}

}  // namespace

struct CheckpointSaver::Job {
  CheckpointInfo info;
  std::vector<StateTensor> tensors;
  bool background = false;
  std::unique_ptr<CollectiveWrite> write;  // on a grid
  std::vector<std::string> reports;
  std::exception_ptr failure;
  std::atomic<bool> ended = false;  // the save; on a grid, this rank's step of it
};

CheckpointSaver::CheckpointSaver(CheckpointStore store, Report report)
    : store_(std::move(store)),
      report_(std::move(report)),
      snapshot_(nullptr, [](std::byte* p) { std::free(p); }) {}

CheckpointSaver::~CheckpointSaver() {
  try {
    if (store_.world().size() == 1) wait();
  } catch (const std::exception& e) {
    report_(e.what());
  }
  if (thread_.joinable()) thread_.join();
}
void CheckpointSaver::take_snapshot(std::vector<StateTensor>& tensors, Device& device) {
  size_t bytes = 0;
  for (const StateTensor& tensor : tensors) bytes += rounded(size_t(tensor.data.bytes()), alignment);
  if (bytes > snapshot_bytes_) {
    snapshot_.reset();
    snapshot_bytes_ = 0;
    const size_t size = rounded(bytes, huge_page);
    snapshot_.reset(static_cast<std::byte*>(std::aligned_alloc(huge_page, size)));
    if (!snapshot_) {
      throw RuntimeFailure(Problem{.what = fmt::format("no memory for a copy of the state, {} bytes", size),
                                   .hint = "checkpoint.background=false saves without a copy"});
    }
    ::madvise(snapshot_.get(), size, MADV_HUGEPAGE);
    snapshot_bytes_ = size;
  }
  std::byte* at = snapshot_.get();
  for (StateTensor& tensor : tensors) {
    if (tensor.data.numel() > 0) device.to_host(at, tensor.data.data, tensor.data.bytes());
    tensor.data.data = at;
    at += rounded(size_t(tensor.data.bytes()), alignment);
  }
}

void CheckpointSaver::save(const CheckpointInfo& info, const std::vector<StateTensor>& tensors,
                           Device& device) {
  wait();
  auto job = std::make_unique<Job>();
  job->info = info;
  for (const StateTensor& tensor : tensors) job->tensors.push_back(share_of(tensor));
  together(store_.world(), [&] { take_snapshot(job->tensors, device); });
  job_ = std::move(job);
  start(true);
}

void CheckpointSaver::save_now(const CheckpointInfo& info, const std::vector<StateTensor>& tensors) {
  wait();
  job_ = std::make_unique<Job>();
  job_->info = info;
  job_->tensors = tensors;
  start(false);
  wait();
}

void CheckpointSaver::start(bool background) {
  Job& job = *job_;
  job.background = background;
  const std::string path = store_.path_of(job.info.step);
  Communicator& world = store_.world();
  if (world.size() == 1) {
    return run([this, path, &job] {
      try {
        write_checkpoint(path, job.info, job.tensors);
        store_.prune(job.info.step, [&](const std::string& line) { job.reports.push_back(line); });
      } catch (...) {
        job.failure = std::current_exception();
      }
    });
  }
  try {
    job.write = std::make_unique<CollectiveWrite>(world, path, job.info, job.tensors);
  } catch (...) {
    job.failure = std::current_exception();
    job.ended = true;
    return;
  }
  run([&job] { job.write->work(); });
}

void CheckpointSaver::run(const std::function<void()>& step) {
  Job& job = *job_;
  job.ended = false;
  if (job.background) {
    thread_ = std::thread([&job, step] {
      lower_priority();
      step();
      job.ended = true;
    });
  } else {
    step();
    job.ended = true;
  }
}

// The end of a step on a grid: what the ranks tell each other, and the next step or the end of the save.
void CheckpointSaver::advance() {
  if (thread_.joinable()) thread_.join();
  Job& job = *job_;
  Communicator& world = store_.world();
  try {
    if (!job.failure) {
      if (!job.write->exchange()) return run([&job] { job.write->work(); });
      together(world, [&] {
        if (world.rank() == 0) store_.prune(job.info.step, report_);
      });
    }
  } catch (...) {
    job.failure = std::current_exception();
  }
  finish();
}

void CheckpointSaver::finish() {
  const std::unique_ptr<Job> job = std::move(job_);
  for (const std::string& line : job->reports) report_(line);
  if (job->failure) std::rethrow_exception(job->failure);
}

bool CheckpointSaver::busy() const {
  return job_ && !job_->ended;
}

void CheckpointSaver::poll() {
  if (!job_) return;
  Communicator& world = store_.world();
  int64_t ready = job_->ended;
  world.all_reduce(View(&ready, DType::i64, Shape{1}), Reduce::min, "checkpoint").wait();
  if (ready == 0) return;
  if (world.size() == 1) {
    wait();
  } else {
    advance();
  }
}

void CheckpointSaver::wait() {
  if (store_.world().size() > 1) {
    while (job_) advance();
    return;
  }
  if (thread_.joinable()) thread_.join();
  if (job_) finish();
}

}  // namespace shoal
