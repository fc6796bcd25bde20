#include "train/trace_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "comm/hosts.h"

namespace shoal {

namespace {

// A file that appears whole: written under another name first. Only the first rank has one.
class WholeFile {
 public:
  WholeFile(std::string path, bool mine) : path_(std::move(path)) {
    if (mine) out_.open(path_ + ".part", std::ios::binary);
  }
  void write(std::string_view text) { out_ << text; }
  void finish() {
    out_.close();
    std::error_code error;
    if (out_) std::filesystem::rename(path_ + ".part", path_, error);
    if (!out_ || error) runtime_failure("cannot write {}: {}", path_, std::strerror(errno));
  }

 private:
  std::string path_;
  std::ofstream out_;
};

}  // namespace

void write_trace(const Timeline& timeline, Communicator& world, const Grid& grid, const RunFolder& folder) {
  const std::vector<std::string> hosts = host_names(world);
  const auto offset = clock_offset(world, hosts);
  const int rank = world.rank();
  const bool first = rank == 0;
  const Coordinates c = coordinates_of(grid, rank);
  const std::string name = fmt::format("rank {} (x {} y {} z {} data {}) on {}", rank, c[Axis::x], c[Axis::y],
                                       c[Axis::z], c[Axis::data], hosts[static_cast<size_t>(rank)]);

  WholeFile json(folder.file("trace.json"), first), csv(folder.file("trace.csv"), first);
  json.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
  collect(world, timeline.to_json(rank, name, offset), [&](int r, const std::string& events) {
    const bool last = r + 1 == world.size();
    json.write(std::string_view(events).substr(0, events.size() - (last ? 2 : 0)));
  });
  json.write("\n]}\n");
  csv.write(Timeline::csv_heading());
  collect(world, timeline.to_csv(rank, offset), [&](int, const std::string& rows) { csv.write(rows); });
  if (!first) return;
  json.finish();
  csv.finish();
}

}  // namespace shoal
