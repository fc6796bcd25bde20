// One checkpoint is one HDF5 file of global tensors (docs/CHECKPOINT_FORMAT.md). It becomes visible only when
// it is complete: temporary name, fsync, rename, fsync of the folder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grid/grid.h"
#include "tensor/view.h"

namespace shoal {

// A named global tensor and the part of it that lies in this process's (host) memory.
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

// Throws RuntimeFailure naming the path and the cause (disk full, read-only, ...); a failed write leaves no
// file.
void write_checkpoint(const std::string& path, const CheckpointInfo& info,
                      const std::vector<StateTensor>& tensors);

// A checkpoint opened for reading. Opening checks the structure; read() checks the content hash of what it
// reads.
class CheckpointReader {
 public:
  struct Entry {
    std::string name;
    DType dtype;
    Shape shape;
    std::string hash;
  };
  explicit CheckpointReader(const std::string& path);
  ~CheckpointReader();
  const CheckpointInfo& info() const;
  const std::vector<Entry>& entries() const;
  bool has(const std::string& name) const;
  // Reads the slab into data, whose type must be the stored one. Throws RuntimeFailure if the tensor's hash
  // is wrong.
  void read(const StateTensor& into);
  void verify();  // reads and hashes everything

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal
