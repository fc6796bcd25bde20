// Where HDF5 writes to. HDF5 1.10 does not recover from a write that fails: the file stays half open, its
// disk space taken, and the process crashes at exit. So HDF5 never gets to see a failure: the sink keeps it,
// drops what follows, and the writer asks.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/hdf5_handle.h"
#include "checkpoint/publish.h"

namespace shoal {

class Hdf5Sink {
 public:
  // Creates or empties the file; throws RuntimeFailure. Making and destroying a sink takes HDF5's lock, its
  // other functions are called with the lock held.
  explicit Hdf5Sink(const std::string& path);
  ~Hdf5Sink();
  Hdf5Sink(const Hdf5Sink&) = delete;
  Hdf5Sink& operator=(const Hdf5Sink&) = delete;

  // Claims disk space before anything is written, so that a full disk is found at once. Where the file system
  // cannot do that, it is found while writing.
  void reserve(int64_t bytes);

  // Access properties for H5Fcreate; the sink must outlive the file.
  Hid access();

  // Throws the RuntimeFailure of the first write that failed, if one did.
  void check() const;

  // For the driver's callbacks.
  void write(const void* data, size_t bytes, uint64_t offset) noexcept;
  void read(void* data, size_t bytes, uint64_t offset) noexcept;  // zeros beyond the end
  void resize(uint64_t bytes) noexcept;

 private:
  std::string path_;
  File file_;
  Hid driver_;
  int error_number_ = 0;
};

}  // namespace shoal
