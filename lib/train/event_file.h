// TensorBoard event files: records of a length, its masked CRC-32C, a protobuf Event and the payload's masked
// CRC-32C (TensorFlow's TFRecord framing and event.proto, summary.proto).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace shoal {

uint32_t crc32c(std::string_view data);         // Castagnoli; crc32c("123456789") is 0xE3069283
uint32_t masked_crc32c(std::string_view data);  // rotated and offset, as TFRecord stores it

// Appends scalars to one event file of a folder.
class EventFile {
 public:
  // Opens the folder's event file, or creates it, and drops every record after last_step and a record cut
  // short by a crash, so that a resumed run shows each step once. Throws RuntimeFailure naming the path.
  EventFile(const std::string& folder, int64_t last_step);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // One event with a scalar for each (tag, value), written at once.
  void scalars(int64_t step, std::span<const std::pair<std::string_view, double>> values);

  // Drops what was written for steps after last_step (a rollback).
  void truncate(int64_t last_step);

  const std::string& path() const { return path_; }

 private:
  void write_record(const std::string& event);
  std::string path_;
  int file_ = -1;
};

}  // namespace shoal
