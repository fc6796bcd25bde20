#include "data/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "data/output_file.h"

namespace shoal {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw UserError(Problem{what, path, "", "an array of integers in NumPy's .npy format, in C order", ""});
}

// What follows a key of the header's dictionary: "'descr': '<i4', " gives "'<i4', ...".
std::string value_of(const std::string& header, const std::string& key, const std::string& path) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) fail(path, "its header has no " + key);
  return header.substr(header.find_first_not_of(' ', at + key.size() + 3));
}

template <typename T>
constexpr const char* descr() {
  if constexpr (std::is_same_v<T, uint16_t>) return "<u2";
  if constexpr (std::is_same_v<T, int32_t>) return "<i4";
  if constexpr (std::is_same_v<T, uint32_t>) return "<u4";
  if constexpr (std::is_same_v<T, int64_t>) return "<i8";
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : file_(path) {
  const auto bytes = file_.bytes();
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic, kMagicBytes) != 0) fail(path, "is no .npy file");
  const int version = int(bytes[6]);
  if (version != 1 && version != 2) fail(path, fmt::format("has version {} of the format", version));
  uint32_t length = 0;
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) fail(path, "ends inside its header");
  std::memcpy(&length, bytes.data() + 8, length_bytes);
  begin_ = int64_t(8 + length_bytes + length);
  if (begin_ > int64_t(bytes.size())) fail(path, "ends inside its header");
  const std::string header(reinterpret_cast<const char*>(bytes.data()) + 8 + length_bytes, length);

  type_ = value_of(header, "descr", path).substr(0, 5);
  static constexpr std::string_view known[] = {"'|u1'", "'|i1'", "'<u2'", "'<i2'",
                                               "'<u4'", "'<i4'", "'<u8'", "'<i8'"};
  if (std::find(std::begin(known), std::end(known), type_) == std::end(known)) {
    fail(path, "holds elements of the type " + type_);
  }
  type_ = type_.substr(1, 3);
  item_ = type_[2] - '0';
  if (!value_of(header, "fortran_order", path).starts_with("False")) fail(path, "is in Fortran order");
  const std::string shape = value_of(header, "shape", path);
  const size_t end = shape.find(')');
  if (shape.empty() || shape[0] != '(' || end == std::string::npos) fail(path, "its header has no shape");
  size_ = 1;
  for (size_t at = 1; at < end;) {
    const size_t next = std::min(shape.find(',', at), end);
    const size_t first = std::min(shape.find_first_not_of(' ', at), next);
    int64_t extent = 0;
    const auto read = std::from_chars(shape.data() + first, shape.data() + next, extent);
    if (first < next && (read.ec != std::errc{} || extent < 0 || extent > int64_t(1) << 48)) {
      fail(path, "its header has no shape");
    }
    if (first < next) shape_.push_back(extent);
    if (first < next && __builtin_mul_overflow(size_, extent, &size_)) fail(path, "its shape is too large");
    at = next + 1;
  }
  if (size_ > (int64_t(bytes.size()) - begin_) / item_ || begin_ + size_ * item_ != int64_t(bytes.size())) {
    fail(path, fmt::format("its shape [{}] does not fit its length of {} bytes", fmt::join(shape_, ", "),
                           bytes.size()));
  }
}

int64_t NpyFile::operator[](int64_t i) const {
  const std::byte* at = file_.bytes().data() + begin_ + i * item_;
  const auto load = [at]<typename T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return int64_t(value);
  };
  const bool is_signed = type_[1] == 'i';
  switch (item_) {
    case 1:
      return is_signed ? load(int8_t()) : load(uint8_t());
    case 2:
      return is_signed ? load(int16_t()) : load(uint16_t());
    case 4:
      return is_signed ? load(int32_t()) : load(uint32_t());
    default:
      return load(int64_t());
  }
}

template <typename T>
void write_npy(const std::string& path, const std::vector<int64_t>& shape, std::span<const T> values) {
  int64_t size = 1;
  std::string extents;
  for (int64_t extent : shape) {
    size *= extent;
    extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
  }
  if (shape.size() == 1) extents += ",";
  SHOAL_CHECK(size == int64_t(values.size()));
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr<T>(), extents);
  constexpr size_t kAlignment = 64;  // of the data
  header.append((2 * kAlignment - (kMagicBytes + 5 + header.size()) % kAlignment) % kAlignment, ' ');
  header += '\n';
  const auto length = uint16_t(header.size());
  OutputFile file(path);
  file.write(kMagic, kMagicBytes);
  file.write("\x01\x00", 2);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  file.write(values.data(), values.size_bytes());
  file.sync();
  file.publish();
}

template void write_npy(const std::string&, const std::vector<int64_t>&, std::span<const uint16_t>);
template void write_npy(const std::string&, const std::vector<int64_t>&, std::span<const int32_t>);
template void write_npy(const std::string&, const std::vector<int64_t>&, std::span<const uint32_t>);
template void write_npy(const std::string&, const std::vector<int64_t>&, std::span<const int64_t>);

}  // namespace shoal
