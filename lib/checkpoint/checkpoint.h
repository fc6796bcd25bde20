// One checkpoint is one HDF5 file of global tensors (docs/CHECKPOINT_FORMAT.md), the same bytes whatever grid
// wrote it. It becomes visible only when it is complete: temporary name, fsync, rename, fsync of the folder.
//
// Functions that take a world are collective over it: every rank calls them in the same order, and an error
// on one rank is thrown on all. Those without are for one process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "comm/communicator.h"
#include "grid/grid.h"
#include "tensor/view.h"

namespace shoal {

// A checkpoint whose bytes are not those that were written.
class DamagedCheckpoint : public RuntimeFailure {
 public:
  DamagedCheckpoint(const std::string& path, const std::string& what)
      : RuntimeFailure(Problem{.what = what, .where = path}) {}
  explicit DamagedCheckpoint(const std::string& message) : RuntimeFailure(message) {}
};

// A named global tensor and the piece of it that lies in this process's memory: a part of the flattened slab.
//
// On a grid every rank gives every tensor, with an empty piece of those it has nothing of. Together the
// pieces hold every element, and each as often as any other: `replica` tells which of the ranks with the same
// piece this one is (replica_of in grid/grid.h). When a tensor is written each of them writes its share of
// the piece.
struct StateTensor {
  std::string name;                // "model/layers.0.attention.qkv.weight", "optimizer/m/..."
  Shape shape;                     // global
  Slab slab;                       // this rank's block of it
  View data;                       // contiguous, the part's elements, in any shape
  std::optional<Range> part = {};  // of the flattened slab; without, all of it
  Replica replica = {};

  Range range() const { return part ? *part : Range{0, slab.shape.numel()}; }
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
// The same from the ranks of a grid. Of the info, rank 0's is stored.
void write_checkpoint(Communicator& world, const std::string& path, const CheckpointInfo& info,
                      const std::vector<StateTensor>& tensors);

// A whole tensor that is made when its turn to be written comes, so that one at a time is in memory.
struct LazyTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::function<void(const View&)> fill;  // the whole of it, contiguous
};

// The same file as from the tensors themselves; each name comes once.
void write_checkpoint(const std::string& path, const CheckpointInfo& info,
                      const std::vector<LazyTensor>& tensors);

// A checkpoint opened for reading. Opening reads the whole file once and compares its hash, so that no
// damaged byte reaches HDF5 or the run; read() compares the tensor's hash with what arrived in memory. On a
// grid the ranks share the first, and add up their parts of the second.
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
  // Collective, as read() and verify() are then; the world must outlive the reader.
  CheckpointReader(const std::string& path, Communicator& world);
  // The same; the reader shares the world, and may outlive whoever else does.
  CheckpointReader(const std::string& path, std::shared_ptr<Communicator> world);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;

  const std::string& path() const;
  const CheckpointInfo& info() const;
  const std::vector<Entry>& entries() const;         // sorted by name
  const Entry* find(const std::string& name) const;  // null if there is none
  bool has(const std::string& name) const { return find(name) != nullptr; }

  // Reads pieces of tensors into their data, whose types must be the stored ones, and compares their hashes:
  // of every tensor that the ranks have read evenly, each element once or each as often as any other. (Of one
  // that only a part was read of, there is nothing to compare.) Throws RuntimeFailure if a tensor is absent
  // or has another type or shape, and DamagedCheckpoint if a hash is wrong.
  void read(const std::vector<StateTensor>& into);
  void read(const StateTensor& into) { read(std::vector<StateTensor>{into}); }
  void verify();  // reads and hashes every tensor; ranks share the work

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal
