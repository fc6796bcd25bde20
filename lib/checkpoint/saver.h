// Saving while training goes on: the tensors are copied, and a thread of low priority writes the copy.
//
// On a grid (the store's world) every rank copies and writes what it owns. Its thread does not communicate:
// the ranks' exchanges (collective_write.h) happen in poll() and wait(), which are collective then, as save()
// and save_now() are. So MPI needs no support for threads, and the world may be the one that training uses.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/store.h"
#include "device/device.h"

namespace shoal {

class CheckpointSaver {
 public:
  // report is called from the thread that calls save(), poll() or wait().
  CheckpointSaver(CheckpointStore store, Report report);
  // Waits for the save in flight; its failure is reported, not thrown. On a grid, where the other ranks need
  // not be at this point, a save in flight is given up.
  ~CheckpointSaver();
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  // Copies the tensors from the device and returns; a thread then writes, publishes, and removes what
  // retention does not keep. At most one save is in flight: an earlier one is waited for, and its failure
  // thrown (as by wait()). The copy is kept for the next save: as much host memory as the tensors take.
  void save(const CheckpointInfo& info, const std::vector<StateTensor>& tensors, Device& device);

  // The same without a copy or a thread, for tensors in host memory; returns when the checkpoint is safe on
  // disk.
  void save_now(const CheckpointInfo& info, const std::vector<StateTensor>& tensors);

  bool busy() const;  // a save is in flight; on a grid, this rank is at work on it
  // Throws the failure of a save that has ended since the last call. On a grid a save in flight goes on to
  // its next step here once every rank is ready, and all ranks throw at the same call; costs one all-reduce
  // of 8 bytes.
  void poll();
  void wait();  // waits for the save in flight; throws its failure

 private:
  struct Job;
  void take_snapshot(std::vector<StateTensor>& tensors, Device& device);
  void start(bool background);
  void run(const std::function<void()>& step);
  void advance();
  void finish();

  CheckpointStore store_;
  Report report_;
  std::unique_ptr<std::byte, void (*)(std::byte*)> snapshot_;
  size_t snapshot_bytes_ = 0;
  std::unique_ptr<Job> job_;
  std::thread thread_;
};

}  // namespace shoal
