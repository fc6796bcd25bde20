#include "checkpoint/saver.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/error.h"

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
  std::vector<std::string> reports;
  std::exception_ptr failure;
  std::atomic<bool> ended = false;
};

CheckpointSaver::CheckpointSaver(CheckpointStore store, Report report)
    : store_(std::move(store)),
      report_(std::move(report)),
      snapshot_(nullptr, [](std::byte* p) { std::free(p); }) {}

CheckpointSaver::~CheckpointSaver() {
  try {
    wait();
  } catch (const std::exception& e) {
    report_(e.what());
  }
}

void CheckpointSaver::write(Job& job) const {
  try {
    write_checkpoint(store_.path_of(job.info.step), job.info, job.tensors);
    store_.prune(job.info.step, [&](const std::string& line) { job.reports.push_back(line); });
  } catch (...) {
    job.failure = std::current_exception();
  }
  job.ended = true;
}

void CheckpointSaver::save(const CheckpointInfo& info, const std::vector<StateTensor>& tensors,
                           Device& device) {
  wait();
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
  job_ = std::make_unique<Job>();
  job_->info = info;
  job_->tensors = tensors;
  std::byte* at = snapshot_.get();
  for (StateTensor& tensor : job_->tensors) {
    if (tensor.data.numel() > 0) device.to_host(at, tensor.data.data, tensor.data.bytes());
    tensor.data.data = at;
    at += rounded(size_t(tensor.data.bytes()), alignment);
  }
  thread_ = std::thread([this, job = job_.get()] {
    lower_priority();
    write(*job);
  });
}

void CheckpointSaver::save_now(const CheckpointInfo& info, const std::vector<StateTensor>& tensors) {
  wait();
  job_ = std::make_unique<Job>();
  job_->info = info;
  job_->tensors = tensors;
  write(*job_);
  wait();
}

bool CheckpointSaver::busy() const {
  return job_ && !job_->ended;
}

void CheckpointSaver::poll() {
  if (job_ && job_->ended) wait();
}

void CheckpointSaver::wait() {
  if (thread_.joinable()) thread_.join();
  if (!job_) return;
  const std::unique_ptr<Job> job = std::move(job_);
  for (const std::string& line : job->reports) report_(line);
  if (job->failure) std::rethrow_exception(job->failure);
}

}  // namespace shoal
