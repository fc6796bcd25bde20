#include "train/metrics_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include "base/error.h"

namespace shoal {

namespace {

// JSON has no NaN or infinity.
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

// Every record starts with its step.
int64_t step_of(const std::string& line) {
  static constexpr std::string_view head = "{\"step\":";
  int64_t step = -1;
  if (line.starts_with(head)) std::from_chars(line.data() + head.size(), line.data() + line.size(), step);
  return step;
}

}  // namespace

std::string to_json(const StepRecord& r) {
  std::string json = fmt::format("{{\"step\":{},\"tokens\":{},\"loss\":{},\"grad_norm\":{},\"lr\":{}", r.step,
                                 r.tokens, number(r.loss), number(r.grad_norm), number(r.lr));
  if (r.masked) {
    json += fmt::format(",\"loss_plain\":{},\"loss_dropped\":{},\"kept\":{},\"dropped\":{}",
                        number(r.loss_plain), number(r.loss_dropped), r.kept, r.dropped);
  }
  if (!r.applied) json += ",\"skipped\":true";
  json += fmt::format(
      ",\"step_ms\":{:.3f},\"data_ms\":{:.3f},\"tokens_per_second\":{:.1f},\"mfu\":{:.4f},\"memory\":{}}}",
      r.seconds * 1e3, r.data_seconds * 1e3, r.tokens_per_second, r.mfu, r.memory_bytes);
  return json;
}

std::string to_json(const EvalRecord& r) {
  return fmt::format("{{\"step\":{},\"{}_loss\":{},\"{}_tokens\":{},\"eval_ms\":{:.1f}}}", r.step, r.split,
                     number(r.loss), r.split, r.tokens, r.seconds * 1e3);
}

MetricsFile::MetricsFile(const std::string& path, int64_t last_step) : path_(path) {
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) runtime_failure("cannot open {} for appending: {}", path, std::strerror(errno));
  truncate(last_step);
}

MetricsFile::~MetricsFile() {
  if (file_ >= 0) close(file_);
}

void MetricsFile::truncate(int64_t last_step) {
  std::ifstream in(path_, std::ios::binary);
  off_t end = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    if (step_of(line) < 0 || step_of(line) > last_step) break;
    end += off_t(line.size()) + 1;
  }
  if (ftruncate(file_, end) != 0) runtime_failure("cannot cut {} back: {}", path_, std::strerror(errno));
}

void MetricsFile::append(const std::string& json) {
  const std::string line = json + "\n";
  if (write(file_, line.data(), line.size()) != ssize_t(line.size())) {
    runtime_failure("cannot write {}: {}", path_, std::strerror(errno));
  }
}

}  // namespace shoal
