// Writes a safetensors file tensor after tensor, so that one at a time is in memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/publish.h"
#include "checkpoint/safetensors.h"

namespace shoal {

class SafetensorsWriter {
 public:
  // The entries in the order in which their bytes will come; their offsets are not read. Throws
  // RuntimeFailure.
  SafetensorsWriter(const std::string& path, std::vector<SafetensorsEntry> entries,
                    const std::map<std::string, std::string>& metadata = {});

  // All bytes of the next entry.
  void append(const void* data, int64_t bytes);

  // After the last entry: the file appears. Without it nothing stays.
  void finish();

 private:
  std::vector<SafetensorsEntry> entries_;
  PendingFile pending_;
  File file_;
  size_t next_ = 0;
  int64_t at_ = 0;
};

}  // namespace shoal
