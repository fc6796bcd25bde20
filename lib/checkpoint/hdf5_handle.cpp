#include "checkpoint/hdf5_handle.h"

#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "checkpoint/publish.h"

namespace shoal {

std::unique_lock<std::mutex> lock_hdf5() {
  static std::mutex mutex;  // guards the library's own global state
  std::unique_lock lock(mutex);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return lock;
}

void hdf5_failure(std::string_view action, const std::string& path) {
  struct Found {
    int error_number = 0;
    std::string text;
  } found;
  const auto visit = [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
    auto& result = *static_cast<Found*>(data);
    const char* text = error->desc ? error->desc : "";
    if (result.text.empty()) result.text = text;
    if (const char* at = std::strstr(text, "errno = "); at && result.error_number == 0) {
      std::sscanf(at, "errno = %d", &result.error_number);
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &found);
  if (found.error_number != 0) io_failure(action, path, found.error_number);
  runtime_failure("cannot {} {}: {}", action, path, found.text.empty() ? "HDF5 gives no reason" : found.text);
}

Hid hdf5_type(DType dtype) {
  const auto copy = [](hid_t type) { return Hid(H5Tcopy(type), H5Tclose); };
  switch (dtype) {
    case DType::f32:
      return copy(H5T_IEEE_F32LE);
    case DType::f64:
      return copy(H5T_IEEE_F64LE);
    case DType::i32:
      return copy(H5T_STD_I32LE);
    case DType::i64:
      return copy(H5T_STD_I64LE);
    case DType::u8:
      return copy(H5T_STD_U8LE);
    case DType::u16:
      return copy(H5T_STD_U16LE);
    case DType::bf16:
      break;
  }
  Hid type = copy(H5T_IEEE_F32LE);
  const bool good = H5Tset_fields(type, 15, 7, 8, 0, 7) >= 0 && H5Tset_precision(type, 16) >= 0 &&
                    H5Tset_size(type, 2) >= 0 && H5Tset_ebias(type, 127) >= 0;
  SHOAL_CHECK(good);
  return type;
}

Hid hdf5_text_type(size_t bytes) {
  Hid type(H5Tcopy(H5T_C_S1), H5Tclose);
  const bool good = H5Tset_size(type, bytes) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                    H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0;
  SHOAL_CHECK(good);
  return type;
}

Hid hdf5_space(const Shape& shape) {
  if (shape.rank() == 0) return Hid(H5Screate(H5S_SCALAR), H5Sclose);
  hsize_t dims[Shape::max_rank];
  for (int d = 0; d < shape.rank(); ++d) dims[d] = static_cast<hsize_t>(shape[d]);
  return Hid(H5Screate_simple(shape.rank(), dims, nullptr), H5Sclose);
}

void select_slab(const Hid& space, const Slab& slab) {
  if (slab.shape.rank() == 0) return;  // a scalar is always whole
  hsize_t offset[Shape::max_rank], count[Shape::max_rank];
  for (int d = 0; d < slab.shape.rank(); ++d) {
    offset[d] = static_cast<hsize_t>(slab.offset[d]);
    count[d] = static_cast<hsize_t>(slab.shape[d]);
  }
  const bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, nullptr, count, nullptr) >= 0;
  SHOAL_CHECK(good);
}

Hid hdf5_file_access() {
  Hid access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const bool good = H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
                    H5Pset_alignment(access, 65536, 4096) >= 0 &&
                    H5Pset_meta_block_size(access, 65536) >= 0 &&
                    H5Pset_file_locking(access, false, true) >= 0;
  SHOAL_CHECK(good);
  return access;
}

}  // namespace shoal
