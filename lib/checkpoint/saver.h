// Saving while training goes on: the tensors are copied, and a thread of low priority writes the copy.
#pragma once

#include <cstddef>
#include <exception>
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
  ~CheckpointSaver();  // waits for the save in flight; its failure is reported, not thrown
  CheckpointSaver(const CheckpointSaver&) = delete;
  CheckpointSaver& operator=(const CheckpointSaver&) = delete;

  // Copies the tensors from the device and returns; a thread then writes, publishes, and removes what
  // retention does not keep. At most one save is in flight: an earlier one is waited for, and its failure
  // thrown (as by wait()). The copy is kept for the next save: as much host memory as the tensors take.
  void save(const CheckpointInfo& info, const std::vector<StateTensor>& tensors, Device& device);

  // The same without a copy or a thread, for tensors in host memory; returns when the checkpoint is safe on
  // disk.
  void save_now(const CheckpointInfo& info, const std::vector<StateTensor>& tensors);

  bool busy() const;  // a save is in flight
  void poll();        // throws the failure of a save that has ended since the last call
  void wait();        // waits for the save in flight; throws its failure

 private:
  struct Job;
  void write(Job& job) const;

  CheckpointStore store_;
  Report report_;
  std::unique_ptr<std::byte, void (*)(std::byte*)> snapshot_;
  size_t snapshot_bytes_ = 0;
  std::unique_ptr<Job> job_;
  std::thread thread_;
};

}  // namespace shoal
