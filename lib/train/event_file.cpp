#include "train/event_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "comm/hosts.h"

namespace shoal {

namespace fs = std::filesystem;

namespace {

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[i] = crc;
  }
  return table;
}

template <typename T>
void append_raw(std::string& out, T value) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Protobuf wire format: a key is field << 3 | type; types 0 varint, 1
// eight bytes, 2 length-delimited, 5 four bytes.
void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(char(uint8_t(value) | 0x80u));
  out.push_back(char(value));
}
void append_key(std::string& out, int field, int type) {
  append_varint(out, uint64_t(field) << 3 | uint64_t(type));
}
void append_bytes(std::string& out, int field, std::string_view bytes) {
  append_key(out, field, 2);
  append_varint(out, bytes.size());
  out += bytes;
}

// Event: wall_time = 1 (double), step = 2 (int64), file_version = 3 (string), summary = 5 (Summary).
std::string event_head(int64_t step) {
  std::string event;
  append_key(event, 1, 1);
  append_raw(event,
             std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  append_key(event, 2, 0);
  append_varint(event, uint64_t(step));
  return event;
}

// The step of an Event that this class wrote: field 2 follows the nine bytes of field 1.
int64_t step_of(std::string_view event) {
  uint64_t step = 0;
  for (size_t i = 10, shift = 0; i < event.size(); ++i, shift += 7) {
    step |= uint64_t(uint8_t(event[i]) & 0x7fu) << shift;
    if ((uint8_t(event[i]) & 0x80u) == 0) break;
  }
  return int64_t(step);
}

std::string read_file(const std::string& path) {
  std::string content;
  if (std::FILE* file = std::fopen(path.c_str(), "rbe")) {
    char buffer[1 << 16];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) content.append(buffer, n);
    std::fclose(file);
  }
  return content;
}

// Where the records with steps up to last_step end.
size_t end_of_records(std::string_view content, int64_t last_step) {
  size_t end = 0;
  while (content.size() - end >= 16) {
    uint64_t length = 0;
    uint32_t head_crc = 0, crc = 0;
    std::memcpy(&length, content.data() + end, 8);
    std::memcpy(&head_crc, content.data() + end + 8, 4);
    if (head_crc != masked_crc32c(content.substr(end, 8)) || length > content.size() - end - 16) break;
    const std::string_view event = content.substr(end + 12, length);
    std::memcpy(&crc, event.data() + length, 4);
    if (crc != masked_crc32c(event) || step_of(event) > last_step) break;
    end += 16 + length;
  }
  return end;
}

}  // namespace

uint32_t crc32c(std::string_view data) {
  static constexpr std::array<uint32_t, 256> table = make_crc_table();
  uint32_t crc = 0xffffffffu;
  for (char c : data) crc = (crc >> 8) ^ table[(crc ^ uint8_t(c)) & 0xffu];
  return ~crc;
}

uint32_t masked_crc32c(std::string_view data) {
  const uint32_t crc = crc32c(data);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

EventFile::EventFile(const std::string& folder, int64_t last_step) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) path_ = entry.path().string();
  }
  if (path_.empty()) {
    path_ = fmt::format("{}/events.out.tfevents.{:010d}.{}", folder, std::time(nullptr), host_name());
  }
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) runtime_failure("cannot open {} for appending: {}", path_, std::strerror(errno));
  truncate(last_step);
}

EventFile::~EventFile() {
  if (file_ >= 0) close(file_);
}

void EventFile::truncate(int64_t last_step) {
  const size_t end = end_of_records(read_file(path_), last_step);
  if (ftruncate(file_, off_t(end)) != 0)
    runtime_failure("cannot cut {} back: {}", path_, std::strerror(errno));
  if (end == 0) {
    std::string event = event_head(0);
    append_bytes(event, 3, "brain.Event:2");
    write_record(event);
  }
}

void EventFile::scalars(int64_t step, std::span<const std::pair<std::string_view, double>> values) {
  // Summary: value = 1 (repeated); Summary.Value: tag = 1 (string), simple_value = 2 (float).
  std::string summary;
  for (const auto& [tag, number] : values) {
    std::string value;
    append_bytes(value, 1, tag);
    append_key(value, 2, 5);
    append_raw(value, float(number));
    append_bytes(summary, 1, value);
  }
  std::string event = event_head(step);
  append_bytes(event, 5, summary);
  write_record(event);
}

void EventFile::write_record(const std::string& event) {
  std::string record;
  append_raw(record, uint64_t(event.size()));
  append_raw(record, masked_crc32c(record));
  record += event;
  append_raw(record, masked_crc32c(event));
  if (write(file_, record.data(), record.size()) != ssize_t(record.size())) {
    runtime_failure("cannot write {}: {}", path_, std::strerror(errno));
  }
}

}  // namespace shoal
