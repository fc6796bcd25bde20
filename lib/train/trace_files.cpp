#include "train/trace_files.h"

#include <string_view>

#include "base/whole_file.h"
#include "comm/hosts.h"

namespace shoal {

namespace {

// The texts of all ranks between head and tail, in a file of the first rank's; the last one without its last
// `cut` characters.
void write_collected(Communicator& world, const std::string& path, std::string_view head,
                     const std::string& mine, std::string_view tail, size_t cut) {
  if (world.rank() > 0) return collect(world, mine, {});
  WholeFile file(path);
  file.write(head);
  collect(world, mine, [&](int r, const std::string& text) {
    file.write(std::string_view(text).substr(0, text.size() - (r + 1 == world.size() ? cut : 0)));
  });
  file.write(tail);
  file.finish();
}

}  // namespace

void write_trace(const Timeline& timeline, Communicator& world, const Grid& grid, const RunFolder& folder) {
  const std::vector<std::string> hosts = host_names(world);
  const auto offset = clock_offset(world, hosts);
  const int rank = world.rank();
  const Coordinates c = coordinates_of(grid, rank);
  const std::string name = fmt::format("rank {} (x {} y {} z {} data {}) on {}", rank, c[Axis::x], c[Axis::y],
                                       c[Axis::z], c[Axis::data], hosts[static_cast<size_t>(rank)]);

  write_collected(world, folder.file("trace.json"), "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n",
                  timeline.to_json(rank, name, offset), "\n]}\n", 2);
  write_collected(world, folder.file("trace.csv"), Timeline::csv_heading(), timeline.to_csv(rank, offset), "",
                  0);
}

}  // namespace shoal
