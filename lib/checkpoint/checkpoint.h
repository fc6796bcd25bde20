// One checkpoint is one HDF5 file of global tensors (docs/CHECKPOINT_FORMAT.md). It becomes visible only when
// it is complete: temporary name, fsync, rename, fsync of the folder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "grid/grid.h"
#include "tensor/view.h"

namespace shoal {

// A checkpoint whose bytes are not those that were written.
class DamagedCheckpoint : public RuntimeFailure {
 public:
  DamagedCheckpoint(const std::string& path, const std::string& what)
      : RuntimeFailure(Problem{.what = what, .where = path}) {}
};

// A named global tensor and a part of it that lies in this process's (host) memory.
struct StateTensor {
  std::string name;  // "model/layers.0.attention.qkv.weight", "optimizer/m/..."
  Shape shape;       // global
  Slab slab;         // what `data` holds
  View data;         // contiguous, of slab.shape, host memory
};

// The small things beside the tensors.
struct CheckpointInfo {
  int64_t step = 0;
  int64_t consumed_samples = 0;
  std::string spec_yaml;  // resolved
  std::map<std::string, std::string>
      strings;  // more state by name: random streams, schedule, loss guard (JSON text)
};

// Several parts of one tensor may be given, under the same name; together they must be the whole. Throws
// RuntimeFailure naming the path and the cause (disk full, read-only, ...); a failed write leaves no file,
// and an older file of the same name as it was. The same state gives the same bytes.
void write_checkpoint(const std::string& path, const CheckpointInfo& info,
                      const std::vector<StateTensor>& tensors);

// A whole tensor that is made when its turn to be written comes, so that one at a time is in memory.
struct LazyTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::function<void(const View&)> fill;  // the whole of it, contiguous; must not use HDF5 itself
};

// The same file as from the tensors themselves; each name comes once.
void write_checkpoint(const std::string& path, const CheckpointInfo& info,
                      const std::vector<LazyTensor>& tensors);

// A checkpoint opened for reading. Opening reads the whole file once and compares its hash, so that no
// damaged byte reaches HDF5 or the run; read() compares the tensor's hash with what arrived in memory.
class CheckpointReader {
 public:
  struct Entry {
    std::string name;
    DType dtype;
    Shape shape;
    std::string hash;  // tensor_hash.h
  };
  // Throws DamagedCheckpoint (also for a file that is no checkpoint), RuntimeFailure if the file cannot be
  // read, and UserError for a format that is newer than this program.
  explicit CheckpointReader(const std::string& path);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;

  const std::string& path() const;
  const CheckpointInfo& info() const;
  const std::vector<Entry>& entries() const;         // sorted by name
  const Entry* find(const std::string& name) const;  // null if there is none
  bool has(const std::string& name) const { return find(name) != nullptr; }

  // Reads the slab into data, whose type must be the stored one. Throws RuntimeFailure if the tensor is
  // absent, has another type or shape, or if the whole of it was read and its hash is wrong. (Ranks that read
  // parts add up hash_slab() of them and compare with the entry.)
  void read(const StateTensor& into);
  void verify();  // reads and hashes every tensor

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal
