#include "checkpoint/safetensors_writer.h"

#include <fcntl.h>

#include <nlohmann/json.hpp>

#include "base/check.h"

namespace shoal {

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<SafetensorsEntry> entries,
                                     const std::map<std::string, std::string>& metadata)
    : entries_(std::move(entries)),
      pending_(path),
      file_(pending_.temporary(), O_WRONLY | O_CREAT | O_TRUNC) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t end = 0;
  for (const SafetensorsEntry& entry : entries_) {
    SHOAL_CHECK(entry.name != "__metadata__" && !header.contains(entry.name));
    header[entry.name] = {
        {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {end, end + entry.bytes}}};
    end += entry.bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the format allows spaces behind the header
  const uint64_t length = text.size();
  file_.write_at(&length, sizeof length, 0);
  file_.write_at(text.data(), static_cast<int64_t>(length), sizeof length);
  at_ = static_cast<int64_t>(sizeof length + length);
}

void SafetensorsWriter::append(const void* data, int64_t bytes) {
  SHOAL_CHECK(next_ < entries_.size() && entries_[next_].bytes == bytes);
  file_.write_at(data, bytes, at_);
  at_ += bytes;
  ++next_;
}

void SafetensorsWriter::finish() {
  SHOAL_CHECK(next_ == entries_.size());
  pending_.publish();
}

}  // namespace shoal
