#include "checkpoint/hdf5_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/error.h"

namespace shoal {
namespace {

// An open file of the driver. HDF5 fills in the base.
struct OpenFile : H5FD_t {
  Hdf5Sink* sink = nullptr;
  haddr_t end_of_address = 0, end_of_file = 0;
};

struct DriverInfo {
  Hdf5Sink* sink;
};

OpenFile* own(H5FD_t* file) {
  return static_cast<OpenFile*>(file);
}
const OpenFile* own(const H5FD_t* file) {
  return static_cast<const OpenFile*>(file);
}

H5FD_t* open_file(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  auto* file = new OpenFile{};
  file->sink = info->sink;
  return file;
}

herr_t close_file(H5FD_t* file) {
  delete own(file);
  return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) {
  if (own(a)->sink == own(b)->sink) return 0;
  return own(a)->sink < own(b)->sink ? -1 : 1;
}

herr_t query(const H5FD_t*, unsigned long* features) {
  // No accumulating of metadata: it may write back what lies between, and there others write tensors.
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t end_of_address(const H5FD_t* file, H5FD_mem_t) {
  return own(file)->end_of_address;
}

herr_t set_end_of_address(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  own(file)->end_of_address = address;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) {
  return own(file)->end_of_file;
}

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t bytes, void* data) {
  own(file)->sink->read(data, bytes, address);
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t bytes, const void* data) {
  own(file)->sink->write(data, bytes, address);
  own(file)->end_of_file = std::max(own(file)->end_of_file, address + bytes);
  return 0;
}

herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
  own(file)->sink->resize(own(file)->end_of_address);
  own(file)->end_of_file = own(file)->end_of_address;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
  driver.name = "shoal sink";
  driver.maxaddr = haddr_t(INT64_MAX);
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare;
  driver.query = query;
  driver.get_eoa = end_of_address;
  driver.set_eoa = set_end_of_address;
  driver.get_eof = end_of_file;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  return driver;
}

}  // namespace

Hdf5Sink::Hdf5Sink(const std::string& path) : path_(path), file_(path, O_RDWR | O_CREAT | O_TRUNC) {
  const H5FD_class_t driver = driver_class();  // HDF5 keeps a copy
  const auto lock = lock_hdf5();
  driver_ = Hid(H5FDregister(&driver), H5FDunregister);
  SHOAL_CHECK(driver_.valid());
}

Hdf5Sink::~Hdf5Sink() {
  const auto lock = lock_hdf5();
  driver_.reset();
}

void Hdf5Sink::reserve(int64_t bytes) {
  if (::fallocate(file_.fd(), FALLOC_FL_KEEP_SIZE, 0, bytes) != 0 && (errno == ENOSPC || errno == EDQUOT)) {
    io_failure(fmt::format("reserve {:.1f} MB for", double(bytes) / 1e6), path_, errno);
  }
}

Hid Hdf5Sink::access() {
  Hid access = hdf5_file_access();
  const DriverInfo info{this};
  SHOAL_CHECK(H5Pset_driver(access, driver_, &info) >= 0);
  return access;
}

void Hdf5Sink::check() const {
  if (error_number_ != 0) io_failure("write", path_, error_number_);
}

void Hdf5Sink::write(const void* data, size_t bytes, uint64_t offset) noexcept {
  for (size_t done = 0; done < bytes && error_number_ == 0;) {
    const ssize_t n =
        ::pwrite(file_.fd(), static_cast<const char*>(data) + done, bytes - done, off_t(offset + done));
    if (n >= 0)
      done += size_t(n);
    else if (errno != EINTR)
      error_number_ = errno;
  }
}

void Hdf5Sink::read(void* data, size_t bytes, uint64_t offset) noexcept {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        ::pread(file_.fd(), static_cast<char*>(data) + done, bytes - done, off_t(offset + done));
    if (n > 0)
      done += size_t(n);
    else if (n == 0)
      break;
    else if (errno != EINTR) {
      if (error_number_ == 0) error_number_ = errno;
      break;
    }
  }
  std::memset(static_cast<char*>(data) + done, 0, bytes - done);
}

void Hdf5Sink::resize(uint64_t bytes) noexcept {
  if (error_number_ == 0 && ::ftruncate(file_.fd(), off_t(bytes)) != 0) error_number_ = errno;
}

}  // namespace shoal
