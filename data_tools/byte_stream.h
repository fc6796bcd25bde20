// The bytes of a file or of standard input, decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace shoal {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Up to `size` bytes; 0 at the end. Throws RuntimeFailure naming the file if it cannot be read or is
  // damaged.
  virtual size_t read(char* to, size_t size) = 0;
  // Bytes of the file itself that have been read, compressed as they are.
  virtual int64_t consumed() const = 0;
};

// "-" is standard input. Gzip and zstd are known by their first bytes; several compressed parts in a row are
// one stream.
std::unique_ptr<ByteStream> open_stream(const std::string& path);

}  // namespace shoal
