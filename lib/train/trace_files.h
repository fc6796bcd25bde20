// trace.json and trace.csv of a run: the timelines of all ranks on the clock of the first.
#pragma once

#include "comm/communicator.h"
#include "comm/timeline.h"
#include "grid/grid.h"
#include "train/run_folder.h"

namespace shoal {

// The first rank writes what the others send it, one at a time. Collective.
void write_trace(const Timeline& timeline, Communicator& world, const Grid& grid, const RunFolder& folder);

}  // namespace shoal
