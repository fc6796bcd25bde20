// The folder of a run's checkpoints: their names, which one is the newest good one, and which ones are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace shoal {

// Which checkpoints stay when newer ones are safe on disk.
struct Retention {
  int64_t keep_last = 3;   // the newest ones; 0: all
  int64_t keep_every = 0;  // each multiple of this step; 0: none
  bool pythia = false;     // the published schedule's steps
};

// The steps at which the Pythia suites were published: 0, 1, 2, 4 ... 512, then every 1000 (Biderman et al.
// 2023, arXiv 2304.01373).
bool in_pythia_schedule(int64_t step);

struct StoredCheckpoint {
  int64_t step = 0;
  std::string path;
  int64_t bytes = 0;
  int64_t modified = 0;          // seconds since 1970
  int64_t consumed_samples = 0;  // 0 if there is a problem
  std::string problem;           // why its seal or its length is wrong; empty: good as far as that tells
};

// Takes one line about something that went wrong and was mended or passed over.
using Report = std::function<void(const std::string&)>;

// On a grid prepare() and open_newest() are collective; the first rank alone makes, renames and removes
// files, and reports.
class CheckpointStore {
 public:
  CheckpointStore(std::string folder, const Retention& retention);
  // The world must outlive the store and its copies.
  CheckpointStore(std::string folder, const Retention& retention, Communicator& world);

  Communicator& world() const { return *world_; }

  const std::string& folder() const { return folder_; }
  std::string path_of(int64_t step) const;  // "<folder>/step_000100.h5"

  // In the order of their steps. Reads the first page of each.
  std::vector<StoredCheckpoint> list() const;

  // What keeps the checkpoint of a step, given the list it is in: "last 3", "every 1000", "pythia"; empty:
  // nothing.
  std::string kept_by(int64_t step, const std::vector<StoredCheckpoint>& all) const;

  // For the run that owns the folder: creates it, and removes what killed writers left. Throws
  // RuntimeFailure.
  void prepare() const;

  // The newest checkpoint that is whole; those passed over are reported. Nothing if there are none at all;
  // throws RuntimeFailure if all are damaged. With set_aside, a damaged one that is newer than the one found
  // gets the suffix ".damaged", so that it is never again taken for a good one.
  std::optional<CheckpointReader> open_newest(const Report& report, bool set_aside) const;

  // Removes what nothing keeps, once the checkpoint of a step is safe on disk; that one, newer ones and files
  // that are no checkpoints stay. What cannot be removed is reported. For one rank.
  void prune(int64_t saved_step, const Report& report) const;

 private:
  std::vector<int64_t> newest_first() const;

  std::string folder_;
  Retention retention_;
  std::shared_ptr<Communicator> world_;
};

// A checkpoint file, or the newest good one of a run's folder or of a folder of checkpoints. Throws UserError
// if there is none.
CheckpointReader open_checkpoint(const std::string& path, const Report& report);

// The folder of checkpoints that a path names: itself, or its "ckpt".
std::string checkpoint_folder_of(const std::string& path);

}  // namespace shoal
