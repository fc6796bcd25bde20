// What a run has sent, for traffic.json and for the log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/traffic.h"
#include "grid/grid.h"

namespace shoal {

struct TrafficSummary {
  Grid grid;
  int rank = 0;        // whose ledger it is
  int64_t steps = 0;   // that it covers
  double seconds = 0;  // that these took
};

// One JSON object: ranks, grid, rank, steps, seconds, and labels with calls, ring_bytes, wait_seconds and
// under_way_seconds.
std::string to_json(const TrafficSummary& summary, const Traffic& traffic);

// A line for each purpose, the first word of the labels: bytes and times a step, and the share of the time
// under way that was hidden behind other work. Empty without traffic.
std::vector<std::string> traffic_lines(const TrafficSummary& summary, const Traffic& traffic);

}  // namespace shoal
