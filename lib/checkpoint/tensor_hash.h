// A content hash of a global tensor that is the same however the tensor is cut over ranks: the sum, over its
// elements, of a hash of (global index, bits). Every rank sums over what it holds; the sums add up to the
// tensor's hash.
//
// For element i (row-major, from 0) with bits b (the element as an unsigned number, little-endian), modulo
// 2^64:
//   x = b + (i + 1) 0x9E3779B97F4A7C15;   x = (x ^ (x >> 30)) 0xBF58476D1CE4E5B9
//   p = (x ^ (x >> 27)) 0x94D049BB133111EB;   low  += p ^ (p >> 31)
//   q = (x ^ (x >> 28)) 0xD6E8FEB86659FD93;   high += q ^ (q >> 32)
// (the finaliser of SplitMix64, Steele et al., OOPSLA 2014, and a second one). It guards against accidents,
// not against forgery.
#pragma once

#include <cstdint>
#include <string>

#include "grid/grid.h"
#include "tensor/view.h"

namespace shoal {

struct TensorHash {
  uint64_t low = 0, high = 0;
  TensorHash& operator+=(const TensorHash& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
  // The sum of so many equal hashes.
  TensorHash operator*(uint64_t copies) const { return {low * copies, high * copies}; }
  bool operator==(const TensorHash&) const = default;
};

std::string to_string(const TensorHash& hash);  // 32 hexadecimal digits, high first

// The share of a part of a flattened slab; data is contiguous, in host memory, the part's elements.
TensorHash hash_part(const Shape& global, const Slab& slab, const Range& part, const View& data);
// The share of a whole slab.
TensorHash hash_slab(const Shape& global, const Slab& slab, const View& data);

}  // namespace shoal
