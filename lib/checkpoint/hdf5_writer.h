// The HDF5 side of writing a checkpoint: everything but the tensors' elements. One rank makes the file and
// places the datasets; every rank then writes elements to where they belong, past HDF5.
#pragma once

#include <map>
#include <set>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/hdf5_handle.h"
#include "checkpoint/hdf5_sink.h"
#include "checkpoint/tensor_hash.h"

namespace shoal {

// Every call holds HDF5's lock, and may come from another thread. Throws RuntimeFailure.
class Hdf5Writer {
 public:
  // Creates or empties the file, and claims disk space for so many bytes of tensors.
  Hdf5Writer(const std::string& path, int64_t tensor_bytes);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void add_info(const CheckpointInfo& info);
  // Places a tensor; its first element's byte in the file, 0 if it has none.
  int64_t add_tensor(const std::string& name, DType dtype, const Shape& shape);
  void set_hash(const std::string& name, const TensorHash& hash);
  void close();  // the metadata are in the file when this returns

 private:
  template <typename T>
  T check(T result) const;
  void number(const char* name, int64_t value);
  void text(const std::string& name, const std::string& value);
  Hid create(const std::string& name, const Hid& type, const Shape& shape, H5D_alloc_time_t when);

  std::string path_;
  std::set<std::string> groups_;
  Hdf5Sink sink_;
  Hid file_;                           // closed before the sink
  std::map<std::string, Hid> hashes_;  // attributes that await their values
};

}  // namespace shoal
