// HDF5's C interface with owned identifiers and errors as exceptions. Only this folder includes it.
#pragma once

#define MPICH_SKIP_MPICXX
#include <hdf5.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "grid/grid.h"
#include "tensor/dtype.h"
#include "tensor/view.h"

namespace shoal {

// HDF5 1.10 keeps its state in globals and is not thread-safe as packaged: hold this lock around every use of
// it. Also silences its printing of errors.
std::unique_lock<std::mutex> lock_hdf5();

// Throws a RuntimeFailure with the system's error (disk full, ...) if HDF5 met one, else with HDF5's
// innermost message.
[[noreturn]] void hdf5_failure(std::string_view action, const std::string& path);

class Hid {
 public:
  using Close = herr_t (*)(hid_t);
  Hid() = default;
  Hid(hid_t id, Close close) : id_(id), close_(close) {}
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hid& operator=(Hid&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
      close_ = other.close_;
    }
    return *this;
  }
  ~Hid() { reset(); }

  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }
  herr_t reset() { return id_ >= 0 ? close_(std::exchange(id_, -1)) : 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// The type in the file and in memory. bf16 is a 16-bit float of its own (8 exponent bits), which h5py reads
// as float32.
Hid hdf5_type(DType dtype);
Hid hdf5_text_type(size_t bytes);  // UTF-8 of fixed length, at least 1, padded with zeros
Hid hdf5_space(const Shape& shape);
void select_slab(const Hid& space, const Slab& slab);  // the slab of a dataspace of the global shape

// File access: no file locks (they fail on some parallel file systems, and publishing is atomic anyway),
// large datasets on page boundaries, metadata with checksums (format of HDF5 1.8).
Hid hdf5_file_access();

}  // namespace shoal
