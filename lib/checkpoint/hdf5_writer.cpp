#include "checkpoint/hdf5_writer.h"

#include <algorithm>

#include "base/check.h"
#include "checkpoint/seal.h"

namespace shoal {

template <typename T>
T Hdf5Writer::check(T result) const {
  sink_.check();
  if (result < 0) hdf5_failure("write", path_);
  return result;
}

Hdf5Writer::Hdf5Writer(const std::string& path, int64_t tensor_bytes) : path_(path), sink_(path) {
  const auto lock = lock_hdf5();
  sink_.reserve(seal_bytes + tensor_bytes);
  const Hid creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_userblock(creation, seal_bytes);
  H5Pset_obj_track_times(creation, false);  // the same state gives the same bytes
  file_ = Hid(check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, sink_.access())), H5Fclose);
}

Hdf5Writer::~Hdf5Writer() {
  const auto lock = lock_hdf5();
  hashes_.clear();
  file_.reset();
}

void Hdf5Writer::add_info(const CheckpointInfo& info) {
  const auto lock = lock_hdf5();
  number("format_version", 1);
  number("step", info.step);
  number("consumed_samples", info.consumed_samples);
  text("spec", info.spec_yaml);
  for (const auto& [name, value] : info.strings) text("state/" + name, value);
}

int64_t Hdf5Writer::add_tensor(const std::string& name, DType dtype, const Shape& shape) {
  const auto lock = lock_hdf5();
  const Hid dataset = create(name, hdf5_type(dtype), shape, H5D_ALLOC_TIME_EARLY);
  const Hid type = hdf5_text_type(to_string(TensorHash{}).size()), scalar = hdf5_space({});
  hashes_[name] = Hid(check(H5Acreate2(dataset, "hash", type, scalar, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
  if (shape.numel() == 0) return 0;
  const haddr_t at = H5Dget_offset(dataset);
  if (at == HADDR_UNDEF) hdf5_failure("write", path_);
  return static_cast<int64_t>(at);
}

void Hdf5Writer::set_hash(const std::string& name, const TensorHash& hash) {
  const auto lock = lock_hdf5();
  const std::string digits = to_string(hash);
  const auto found = hashes_.find(name);
  SHOAL_CHECK(found != hashes_.end());
  check(H5Awrite(found->second, hdf5_text_type(digits.size()), digits.data()));
  hashes_.erase(found);
}

void Hdf5Writer::close() {
  const auto lock = lock_hdf5();
  SHOAL_CHECK(hashes_.empty());
  check(file_.reset());
}

void Hdf5Writer::number(const char* name, int64_t value) {
  const Hid type = hdf5_type(DType::i64), space = hdf5_space({});
  const Hid attribute(check(H5Acreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
  check(H5Awrite(attribute, type, &value));
}

void Hdf5Writer::text(const std::string& name, const std::string& value) {
  const Hid type = hdf5_text_type(std::max<size_t>(1, value.size()));
  const Hid dataset = create(name, type, {}, H5D_ALLOC_TIME_LATE);
  check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str()));
}

Hid Hdf5Writer::create(const std::string& name, const Hid& type, const Shape& shape, H5D_alloc_time_t when) {
  for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
    if (!groups_.insert(name.substr(0, at)).second) continue;
    const Hid properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties, false);
    Hid(check(H5Gcreate2(file_, name.substr(0, at).c_str(), H5P_DEFAULT, properties, H5P_DEFAULT)), H5Gclose);
  }
  const Hid properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(properties, when);
  H5Pset_obj_track_times(properties, false);
  return Hid(
      check(H5Dcreate2(file_, name.c_str(), type, hdf5_space(shape), H5P_DEFAULT, properties, H5P_DEFAULT)),
      H5Dclose);
}

}  // namespace shoal
