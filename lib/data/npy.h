// Arrays in NumPy's .npy format (numpy/lib/format.py, version 1.0 and 2.0): integers, little-endian, in C
// order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/mapped_file.h"

namespace shoal {

class NpyFile {
 public:
  // Checks the header and the length. Throws UserError naming the file.
  explicit NpyFile(const std::string& path);

  const std::vector<int64_t>& shape() const { return shape_; }
  int64_t size() const { return size_; }             // elements
  const std::string& type() const { return type_; }  // "<i4"
  const std::string& path() const { return file_.path(); }
  // Element i of the flattened array. Types: |u1, <u2, <u4, <i4, <i8 (and the others of these widths).
  int64_t operator[](int64_t i) const;

 private:
  MappedFile file_;
  std::vector<int64_t> shape_;
  std::string type_;
  int64_t size_ = 0, begin_ = 0, item_ = 0;
};

// Writes an array whole or not at all; T is uint16_t, int32_t, uint32_t or int64_t, and the values fill the
// shape. Throws RuntimeFailure.
template <typename T>
void write_npy(const std::string& path, const std::vector<int64_t>& shape, std::span<const T> values);

}  // namespace shoal
