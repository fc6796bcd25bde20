// metrics.jsonl: one JSON object a line, appended and handed to the system record by record.
#pragma once

#include <cstdint>
#include <string>

#include "train/records.h"

namespace shoal {

std::string to_json(const StepRecord& record);
std::string to_json(const EvalRecord& record);

class MetricsFile {
 public:
  // Opens for appending, dropping records of steps after last_step and a line cut short by a crash.
  MetricsFile(const std::string& path, int64_t last_step);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void append(const std::string& json);
  void truncate(int64_t last_step);

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace shoal
