#include "comm/heartbeat.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "comm/hosts.h"

namespace shoal {

namespace {

constexpr size_t line_length = 383;  // without the newline
constexpr size_t max_label = 120;
constexpr size_t max_named = 4;

}  // namespace

double seconds_since_epoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string beat_file(const std::string& folder, int rank) {
  return folder + (rank == 0 ? "/heartbeat.json" : fmt::format("/heartbeat.{}.json", rank));
}

void Heartbeat::open(const std::string& folder, int rank) {
  folder_ = folder;
  beat_.rank = rank;
  beat_.pid = getpid();
  beat_.host = host_name();
  const std::string path = beat_file(folder, rank);
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) runtime_failure("cannot write {}: {}", path, std::strerror(errno));
  beat(0, "start");
}

Heartbeat::~Heartbeat() {
  if (file_ >= 0) ::close(file_);
}

std::string Heartbeat::laggards(int ranks) const {
  return folder_.empty() ? "" : name_laggards(read_beats(folder_, ranks), seconds_since_epoch());
}

void Heartbeat::beat(int64_t step, std::string_view phase) {
  const std::lock_guard lock(mutex_);
  beat_.step = step;
  beat_.phase = phase;
  write();
}

void Heartbeat::started(std::string_view label) {
  const std::lock_guard lock(mutex_);
  ++beat_.collectives;
  beat_.label = label.substr(0, max_label);
  write();
}

void Heartbeat::write() {
  if (file_ < 0) return;
  beat_.time = seconds_since_epoch();
  const std::string text = fmt::format(
      R"({{"rank":{},"pid":{},"step":{},"phase":"{}","time":{:.3f},"host":"{}","collectives":{},"label":"{}"}})",
      beat_.rank, beat_.pid, beat_.step, beat_.phase, beat_.time, beat_.host, beat_.collectives, beat_.label);
  const std::string line = fmt::format("{:<{}}\n", text, line_length);
  [[maybe_unused]] const ssize_t written = pwrite(file_, line.data(), line.size(), 0);
}

std::vector<Beat> read_beats(const std::string& folder, int ranks) {
  std::vector<Beat> beats(static_cast<size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    Beat& beat = beats[static_cast<size_t>(r)];
    beat.rank = r;
    std::ifstream in(beat_file(folder, r));
    std::string line;
    std::getline(in, line);
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    beat.pid = json.value("pid", int64_t{0});
    beat.host = json.value("host", "");
    beat.step = json.value("step", int64_t{0});
    beat.phase = json.value("phase", "");
    beat.collectives = json.value("collectives", int64_t{0});
    beat.label = json.value("label", "");
    beat.time = json.value("time", 0.0);
  }
  return beats;
}

std::string name_laggards(const std::vector<Beat>& beats, double now) {
  const auto place = [](const Beat& beat) { return std::tuple(beat.pid != 0, beat.step, beat.collectives); };
  const auto [first, last] = std::minmax_element(
      beats.begin(), beats.end(), [&](const Beat& a, const Beat& b) { return place(a) < place(b); });
  if (beats.empty() || place(*first) == place(*last)) return "no rank is behind the others";
  std::string text;
  size_t named = 0;
  for (const Beat& beat : beats) {
    if (place(beat) != place(*first) || ++named > max_named) continue;
    text += text.empty() ? "behind the others: " : "; ";
    if (beat.pid == 0) {
      text += fmt::format("rank {}, which has given no sign of life", beat.rank);
      continue;
    }
    text += fmt::format("rank {} (process {} on {}), after step {}, phase {}, ", beat.rank, beat.pid,
                        beat.host, beat.step, beat.phase);
    text += beat.collectives == 0
                ? "before its first collective"
                : fmt::format("last collective {} (number {})", beat.label, beat.collectives);
    text += fmt::format(", last sign of life {:.0f} s ago", now - beat.time);
  }
  if (named > max_named) text += fmt::format("; and {} more", named - max_named);
  return text;
}

}  // namespace shoal
